// A count that knows when it has left what 63 bits hold; then it is none for good.
#pragma once

#include <cstdint>
#include <optional>

namespace tracedb {

class Count {
 public:
  Count() = default;
  Count(int64_t value) : value_(value), ok_(value >= 0) {}  // NOLINT: numbers are counts

  std::optional<int64_t> value() const { return ok_ ? std::optional(value_) : std::nullopt; }

  Count& operator*=(const Count& other) {
    ok_ = ok_ && other.ok_ && !__builtin_mul_overflow(value_, other.value_, &value_);
    return *this;
  }
  Count& operator+=(const Count& other) {
    ok_ = ok_ && other.ok_ && !__builtin_add_overflow(value_, other.value_, &value_);
    return *this;
  }
  friend Count operator*(Count a, const Count& b) { return a *= b; }
  friend Count operator+(Count a, const Count& b) { return a += b; }

 private:
  int64_t value_ = 0;
  bool ok_ = true;
};

}  // namespace tracedb
