#include "serve/http/token_pace.h"

#include <algorithm>
#include <thread>

namespace tracedb {
namespace {

constexpr std::chrono::milliseconds kWait(500);
constexpr std::chrono::milliseconds kAskEach(50);
constexpr std::chrono::seconds kRemembered(60);
constexpr size_t kAddressesMax = 4096;

// One host has 2^64 addresses of IPv6, and may use each for one guess: they count as one.
std::string Network(const std::string& address) {
  if (address.find('.') != std::string::npos) return address;
  size_t at = 0;
  for (int groups = 0; groups < 4 && at != std::string::npos; ++groups) {
    at = address.find(':', at == 0 ? 0 : at + 1);
  }
  const size_t gap = address.find("::");
  return address.substr(0, std::min({at, gap, address.size()}));
}

}  // namespace

// When there are too many addresses to remember, an unknown one may be any of them.
bool TokenPace::IsSlowed(const std::string& address) {
  const auto now = Clock::now();
  std::erase_if(wrong_, [now](const auto& one) { return now - one.second > kRemembered; });
  return wrong_.size() >= kAddressesMax || wrong_.contains(Network(address));
}

bool TokenPace::Await(const std::string& address, const std::function<bool()>& stop) {
  {
    std::lock_guard lock(mutex_);
    if (!IsSlowed(address)) return true;
    if (waiting_ >= waiting_max_) return false;
    ++waiting_;
  }
  const auto end = Clock::now() + kWait;
  bool stopped = false;
  while (!stopped && Clock::now() < end) {
    std::this_thread::sleep_for(kAskEach);
    stopped = stop();
  }
  std::lock_guard lock(mutex_);
  --waiting_;
  return !stopped;
}

void TokenPace::NoteWrong(const std::string& address) {
  std::lock_guard lock(mutex_);
  if (wrong_.size() < kAddressesMax) wrong_[Network(address)] = Clock::now();
}

void TokenPace::NoteRight(const std::string& address) {
  std::lock_guard lock(mutex_);
  wrong_.erase(Network(address));
}

}  // namespace tracedb
