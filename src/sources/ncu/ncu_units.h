// Units of Nsight Compute in base units: "Gbyte/second" is byte/s times 10^9. Its prefixes are
// those of the SI, for bytes as well: a Kbyte is 1,000 bytes.
#pragma once

#include <string>
#include <string_view>

namespace tracedb {

struct NcuUnit {
  std::string base;  // "byte/s"; a unit that is not known stays as it is
  int exponent = 0;  // value in base units = value * 10^exponent
};

NcuUnit BaseUnitOf(std::string_view unit);

}  // namespace tracedb
