#include "serve/http/connection_threads.h"

#include <pthread.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <exception>
#include <functional>
#include <memory>
#include <utility>

namespace tracedb {
namespace {

constexpr size_t kRefusedMax = 128;
constexpr std::chrono::milliseconds kRefusedTime(500);

thread_local bool is_refused_here = false;

extern "C" void* RunWork(void* given) {
  const std::unique_ptr<std::function<void()>> work(static_cast<std::function<void()>*>(given));
  (*work)();
  return nullptr;
}

// On a thread that is detached from its start: glibc before 2.39 reads the memory of a thread that
// ends while it is being detached, which may be gone by then. False: the system has no thread left.
bool StartDetached(std::function<void()> work) {
  auto given = std::make_unique<std::function<void()>>(std::move(work));
  pthread_attr_t detached;
  if (pthread_attr_init(&detached) != 0) return false;
  pthread_t thread{};
  const bool started = pthread_attr_setdetachstate(&detached, PTHREAD_CREATE_DETACHED) == 0 &&
                       pthread_create(&thread, &detached, &RunWork, given.get()) == 0;
  pthread_attr_destroy(&detached);
  if (started) (void)given.release();
  return started;
}

void CloseRead(int socket) {
  std::array<char, 4096> unread{};
  while (recv(socket, unread.data(), unread.size(), MSG_DONTWAIT) > 0) {
  }
  close(socket);
}

}  // namespace

void OpenSockets::Add(int socket) {
  std::lock_guard lock(mutex_);
  sockets_.insert(socket);
  if (ended_) shutdown(socket, SHUT_RDWR);
}

void OpenSockets::Close(int socket) {
  // Within the lock: the number may be another connection's at once.
  std::lock_guard lock(mutex_);
  sockets_.erase(socket);
  close(socket);
}

void OpenSockets::ShutDownAll() {
  std::lock_guard lock(mutex_);
  ended_ = true;
  for (const int socket : sockets_) shutdown(socket, SHUT_RDWR);
}

bool IsRefusedHere() { return is_refused_here; }

bool ConnectionThreads::TakeThread() {
  std::lock_guard lock(mutex_);
  if (running_ >= threads_max_) return false;
  ++running_;
  return true;
}

void ConnectionThreads::Run(const std::function<void()>& serve) {
  try {
    serve();
  } catch (const std::exception&) {  // out of memory: this connection ends, others go on
  }
  std::lock_guard lock(mutex_);
  --running_;
  ended_.notify_all();
}

void ConnectionThreads::enqueue(std::function<void()> serve) {
  on_idle_();
  if (TakeThread()) {
    if (StartDetached([this, serve] { Run(serve); })) return;
    std::lock_guard lock(mutex_);
    --running_;
  }
  is_refused_here = true;
  serve();
  is_refused_here = false;
}

void ConnectionThreads::shutdown() {
  std::unique_lock lock(mutex_);
  ended_.wait(lock, [this] { return running_ == 0; });
}

RefusedSockets::~RefusedSockets() {
  for (const auto& [due, socket] : sockets_) CloseRead(socket);
}

void RefusedSockets::Refuse(int socket, std::string_view answer) {
  const ssize_t sent = send(socket, answer.data(), answer.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
  (void)sent;
  ::shutdown(socket, SHUT_WR);
  sockets_.emplace_back(Clock::now() + kRefusedTime, socket);
  CloseDue();
}

void RefusedSockets::CloseDue() {
  while (!sockets_.empty() &&
         (sockets_.front().first <= Clock::now() || sockets_.size() > kRefusedMax)) {
    CloseRead(sockets_.front().second);
    sockets_.pop_front();
  }
}

}  // namespace tracedb
