// A thread for every connection, up to a number; who comes beyond it is told to come again. Knows
// every open socket, so that all of them can be ended.
#pragma once

#include <httplib.h>

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <set>
#include <string_view>
#include <utility>

namespace tracedb {

// Shared by the threads and by the server whose connections they are.
class OpenSockets {
 public:
  void Add(int socket);
  // Closes it too.
  void Close(int socket);
  // From now on nothing more is read or written; each still is for its thread to close.
  void ShutDownAll();

 private:
  std::mutex mutex_;
  std::set<int> sockets_;
  bool ended_ = false;
};

// Whether the connection on this thread is one too many.
bool IsRefusedHere();

class ConnectionThreads : public httplib::TaskQueue {
 public:
  // `on_idle` is called on the accepting thread, when nobody comes and when somebody does.
  ConnectionThreads(int threads_max, std::function<void()> on_idle)
      : threads_max_(threads_max), on_idle_(std::move(on_idle)) {}
  ~ConnectionThreads() override = default;

  void enqueue(std::function<void()> serve) override;
  // Waits for all of them.
  void shutdown() override;
  void on_idle() override { on_idle_(); }

 private:
  bool TakeThread();
  void Run(const std::function<void()>& serve);

  const int threads_max_;
  const std::function<void()> on_idle_;
  std::mutex mutex_;
  std::condition_variable ended_;
  int running_ = 0;
};

// Sockets that were answered without being read: closed at once they would lose the answer.
class RefusedSockets {
 public:
  ~RefusedSockets();
  // Sends `answer`, and closes the socket a little later.
  void Refuse(int socket, std::string_view answer);
  // Closes those whose time has come.
  void CloseDue();

 private:
  using Clock = std::chrono::steady_clock;
  std::deque<std::pair<Clock::time_point, int>> sockets_;
};

}  // namespace tracedb
