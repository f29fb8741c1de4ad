#include "serve/socket_stream.h"

#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

namespace tracedb {
namespace {

constexpr int kSendBytes = 192 << 10;
constexpr size_t kRequestBytesMax = 64 << 10;
constexpr std::chrono::seconds kRequestTimeMax(10);
constexpr std::chrono::seconds kTakesNothingMax(30);
constexpr std::chrono::milliseconds kReadRestTime(500);

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
  if (at_ == end_) {
    if (!Wait(POLLIN, wait)) return false;
    char first = 0;
    if (recv(socket_, &first, 1, MSG_PEEK) <= 0) return false;
  }
  request_bytes_ = end_ - at_;
  request_end_ = Clock::now() + kRequestTimeMax;
  return true;
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

bool SocketStream::is_readable() const { return at_ < end_ || Wait(POLLIN, kRequestTimeMax); }

bool SocketStream::is_writable() const { return Wait(POLLOUT, kTakesNothingMax) && !IsGone(); }

ssize_t SocketStream::read(char* bytes, size_t size) {
  while (at_ == end_) {
    const auto left =
        std::chrono::duration_cast<std::chrono::milliseconds>(request_end_ - Clock::now());
    if (request_bytes_ >= kRequestBytesMax || left.count() <= 0 || !Wait(POLLIN, left)) return -1;
    const ssize_t got = recv(socket_, gathered_.data(), gathered_.size(), 0);
    if (got == 0) return 0;
    if (got < 0 && errno != EAGAIN && errno != EINTR) return -1;
    at_ = 0;
    end_ = got < 0 ? 0 : static_cast<size_t>(got);
    request_bytes_ += end_;
  }
  const size_t taken = std::min(size, end_ - at_);
  std::memcpy(bytes, gathered_.data() + at_, taken);
  at_ += taken;
  return static_cast<ssize_t>(taken);
}

ssize_t SocketStream::write(const char* bytes, size_t size) {
  size_t sent = 0;
  while (sent < size) {
    const ssize_t taken = send(socket_, bytes + sent, size - sent, MSG_NOSIGNAL);
    if (taken > 0) {
      sent += static_cast<size_t>(taken);
    } else if (errno == EAGAIN) {
      if (!Wait(POLLOUT, kTakesNothingMax)) return -1;
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
