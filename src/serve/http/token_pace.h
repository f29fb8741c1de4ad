// Slows down who guesses the token. After a wrong one from an address, whatever comes from there
// waits before it is compared, be it right or wrong: an answer that comes at once, or not at once,
// would tell as much as the answer. Few wait at a time, so guesses are few a second and the threads
// of others are left alone; who comes beyond them is not compared at all.
#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <map>
#include <mutex>
#include <string>

namespace tracedb {

class TokenPace {
 public:
  explicit TokenPace(int waiting_max) : waiting_max_(waiting_max) {}

  // Waits as long as requests of the address have to. False: it may not be compared, because too
  // many wait already, or `stop`, asked several times a second, is true.
  [[nodiscard]] bool Await(const std::string& address, const std::function<bool()>& stop);
  void NoteWrong(const std::string& address);
  void NoteRight(const std::string& address);

 private:
  using Clock = std::chrono::steady_clock;
  bool IsSlowed(const std::string& address);

  const int waiting_max_;
  std::mutex mutex_;
  std::map<std::string, Clock::time_point> wrong_;  // the last one of an address
  int waiting_ = 0;
};

}  // namespace tracedb
