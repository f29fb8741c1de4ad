// Values of 64 bits that come again and again, as numbers of 32.
#pragma once

#include <cstdint>
#include <unordered_map>
#include <vector>

namespace tracedb {

class NumberedValues {
 public:
  // The place of a value in `values`, which it is added to when it is new.
  uint32_t Of(int64_t value, std::vector<int64_t>& values) {
    if (last_ < values.size() && values[last_] == value) return last_;
    const auto [place, is_new] = places_.emplace(value, static_cast<uint32_t>(values.size()));
    if (is_new) values.push_back(value);
    return last_ = place->second;
  }

 private:
  std::unordered_map<int64_t, uint32_t> places_;
  uint32_t last_ = 0;
};

}  // namespace tracedb
