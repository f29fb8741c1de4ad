// A stopwatch, for what a command says of its time.
#pragma once

#include <chrono>

namespace tracedb {

// Seconds since it was made or asked last.
class Stopwatch {
 public:
  double Lap() {
    const auto now = std::chrono::steady_clock::now();
    const std::chrono::duration<double> lap = now - since_;
    since_ = now;
    return lap.count();
  }

 private:
  std::chrono::steady_clock::time_point since_ = std::chrono::steady_clock::now();
};

}  // namespace tracedb
