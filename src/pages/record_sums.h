// Adds numbers to integer columns of records, which else stay as they are.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "tracedb/pages/tree_copy.h"

namespace tracedb {

class RecordSums {
 public:
  explicit RecordSums(const std::vector<CopiedTree::Sum>& sums) : sums_(sums) {}

  // Valid until the next call. Empty where a column is no integer, or the sum none of 64 bits.
  // `record` is that of a TreeRows::Row.
  std::span<const uint8_t> Add(std::span<const uint8_t> record);

 private:
  const std::vector<CopiedTree::Sum>& sums_;
  std::vector<uint8_t> summed_;
};

}  // namespace tracedb
