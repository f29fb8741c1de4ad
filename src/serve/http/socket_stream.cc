#include "serve/http/socket_stream.h"

#include <fcntl.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstring>

namespace tracedb {
namespace {

constexpr int kSendBytes = 192 << 10;
constexpr std::chrono::seconds kRequestTimeMax(10);
constexpr std::chrono::seconds kTakesNothingMax(30);
constexpr std::chrono::milliseconds kReadRestTime(500);
constexpr std::chrono::milliseconds kAskEach(100);

}  // namespace

SocketStream::SocketStream(int socket) : socket_(socket) {
  fcntl(socket, F_SETFL, fcntl(socket, F_GETFL) | O_NONBLOCK);
  // Else the last piece of an answer waits for the client's acknowledgement of the one before.
  const int on = 1;
  setsockopt(socket, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
  // Left alone it grows to megabytes, and a slow client takes half a minute to make room in it.
  setsockopt(socket, SOL_SOCKET, SO_SNDBUF, &kSendBytes, sizeof(kSendBytes));
}

bool SocketStream::Wait(short events, std::chrono::milliseconds time) const {
  pollfd ready{socket_, events, 0};
  const auto end = Clock::now() + time;
  while (true) {
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(end - Clock::now());
    const int found = poll(&ready, 1, static_cast<int>(std::max<int64_t>(left.count(), 0)));
    if (found > 0) return true;
    if (found == 0 || errno != EINTR) return false;
  }
}

bool SocketStream::AwaitRequest(std::chrono::milliseconds wait) {
  head_ = RequestHead();
  auto end = Clock::now() + wait;
  while (true) {
    const bool was_begun = head_.is_begun();
    std::string_view bytes(gathered_.data() + at_, end_ - at_);
    head_.Take(bytes);
    at_ = end_ - bytes.size();
    if (head_.is_whole() || head_.fault().has_value()) break;
    if (!was_begun && head_.is_begun()) end = Clock::now() + kRequestTimeMax;
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(end - Clock::now());
    if (left.count() <= 0 || !Wait(POLLIN, left)) return false;
    const ssize_t got = recv(socket_, gathered_.data(), gathered_.size(), 0);
    if (got == 0 || (got < 0 && errno != EAGAIN && errno != EINTR)) return false;
    at_ = 0;
    end_ = got < 0 ? 0 : static_cast<size_t>(got);
  }
  plain_ = head_.fault().has_value() ? "" : head_.Plain();
  plain_at_ = 0;
  return true;
}

std::string SocketStream::Address() const {
  sockaddr_storage from{};
  socklen_t size = sizeof(from);
  std::array<char, NI_MAXHOST> name{};
  if (getpeername(socket_, reinterpret_cast<sockaddr*>(&from), &size) != 0 ||
      getnameinfo(reinterpret_cast<sockaddr*>(&from), size, name.data(), name.size(), nullptr, 0,
                  NI_NUMERICHOST) != 0) {
    return "";
  }
  return name.data();
}

bool SocketStream::IsGone() const {
  pollfd closed{socket_, POLLRDHUP, 0};
  return poll(&closed, 1, 0) > 0 && (closed.revents & (POLLRDHUP | POLLHUP | POLLERR)) != 0;
}

void SocketStream::ReadRest() {
  ::shutdown(socket_, SHUT_WR);
  const auto end = Clock::now() + kReadRestTime;
  for (auto left = kReadRestTime; left.count() > 0 && Wait(POLLIN, left);
       left = std::chrono::duration_cast<std::chrono::milliseconds>(end - Clock::now())) {
    if (recv(socket_, gathered_.data(), gathered_.size(), 0) <= 0) return;
  }
}

void SocketStream::BreakOff() {
  const linger at_once{1, 0};
  setsockopt(socket_, SOL_SOCKET, SO_LINGER, &at_once, sizeof(at_once));
}

bool SocketStream::AwaitRoom() const {
  const auto end = Clock::now() + kTakesNothingMax;
  while (!give_up_ || !give_up_()) {
    if (Wait(POLLOUT, kAskEach)) return true;
    if (Clock::now() >= end) return false;
  }
  return false;
}

bool SocketStream::is_readable() const { return plain_at_ < plain_.size(); }

bool SocketStream::is_writable() const { return AwaitRoom() && !IsGone(); }

ssize_t SocketStream::read(char* bytes, size_t size) {
  const size_t taken = std::min(size, plain_.size() - plain_at_);
  std::memcpy(bytes, plain_.data() + plain_at_, taken);
  plain_at_ += taken;
  return static_cast<ssize_t>(taken);
}

ssize_t SocketStream::write(const char* bytes, size_t size) {
  size_t sent = 0;
  while (sent < size) {
    const ssize_t taken = send(socket_, bytes + sent, size - sent, MSG_NOSIGNAL);
    if (taken > 0) {
      sent += static_cast<size_t>(taken);
    } else if (errno == EAGAIN) {
      if (!AwaitRoom()) return -1;
    } else if (errno != EINTR) {
      return -1;
    }
  }
  return static_cast<ssize_t>(sent);
}

// Nobody asks where a request came from.
void SocketStream::get_remote_ip_and_port(std::string&, int&) const {}
void SocketStream::get_local_ip_and_port(std::string&, int&) const {}

}  // namespace tracedb
