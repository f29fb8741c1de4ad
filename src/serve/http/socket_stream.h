// One client's connection, as httplib reads and writes it, with bounds on what it may cost: on the
// bytes and time of a request, and on how long its client may take nothing. httplib gets to read
// requests that RequestHead let through, and of them what that understood.
#pragma once

#include <httplib.h>

#include <array>
#include <chrono>
#include <functional>
#include <string>
#include <utility>

#include "serve/http/request_head.h"

namespace tracedb {

class SocketStream : public httplib::Stream {
 public:
  // The socket stays the caller's. It becomes non-blocking.
  explicit SocketStream(int socket);

  // Waits for the next request, and reads its head. False: none came, or not in time, or the
  // client has gone. True also when the head has a fault.
  bool AwaitRequest(std::chrono::milliseconds wait);
  const RequestHead& head() const { return head_; }  // of the last request
  // Who the client is, as far as the network knows.
  std::string Address() const;
  // Whether the client has closed its end: who closes only its sending half counts as gone too.
  bool IsGone() const;
  // After the last answer: tells the client that nothing follows, and reads on for a moment. A
  // connection that is closed with unread bytes loses the answer.
  void ReadRest();
  // What is sent from here on is lost, and the client is told so by a reset.
  void BreakOff();
  // Whoever waits to write asks this several times a second, and gives up when it says so.
  void GiveUpIf(std::function<bool()> give_up) { give_up_ = std::move(give_up); }

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
  bool AwaitRoom() const;

  const int socket_;
  std::array<char, 4096> gathered_{};
  size_t at_ = 0;  // what has been read of it
  size_t end_ = 0;
  RequestHead head_;
  std::string plain_;  // what httplib reads of it
  size_t plain_at_ = 0;
  std::function<bool()> give_up_;
};

}  // namespace tracedb
