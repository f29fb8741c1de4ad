// One client's connection, as httplib reads and writes it, with bounds on what it may cost: on the
// bytes and time of a request, and on how long its client may take nothing.
#pragma once

#include <httplib.h>

#include <array>
#include <chrono>
#include <string>

namespace tracedb {

class SocketStream : public httplib::Stream {
 public:
  // The socket stays the caller's. It becomes non-blocking.
  explicit SocketStream(int socket);

  // Waits for the first byte of the next request, and begins to measure it. False: none came, or
  // the client has gone.
  bool AwaitRequest(std::chrono::milliseconds wait);
  // Whether the client has closed its end: who closes only its sending half counts as gone too.
  bool IsGone() const;
  // After the last answer: tells the client that nothing follows, and reads on for a moment. A
  // connection that is closed with unread bytes loses the answer.
  void ReadRest();
  // What is sent from here on is lost, and the client is told so by a reset.
  void BreakOff();

  bool is_readable() const override;
  bool is_writable() const override;
  ssize_t read(char* bytes, size_t size) override;
  ssize_t write(const char* bytes, size_t size) override;
  void get_remote_ip_and_port(std::string& ip, int& port) const override;
  void get_local_ip_and_port(std::string& ip, int& port) const override;
  socket_t socket() const override { return socket_; }

 private:
  using Clock = std::chrono::steady_clock;
  bool Wait(short events, std::chrono::milliseconds time) const;

  const int socket_;
  std::array<char, 4096> gathered_{};
  size_t at_ = 0;  // what has been read of it
  size_t end_ = 0;
  size_t request_bytes_ = 0;
  Clock::time_point request_end_{};
};

}  // namespace tracedb
