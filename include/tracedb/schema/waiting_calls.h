// Which runtime calls return only when the GPU is done, by their names.
#pragma once

#include <string_view>

namespace tracedb {

// True for a call of CUDA or HIP that synchronizes, or that copies or fills and is not
// asynchronous.
inline bool WaitsForGpu(std::string_view name) {
  const auto has = [name](std::string_view part) { return name.find(part) != name.npos; };
  if (!name.starts_with("cu") && !name.starts_with("hip")) return false;
  return has("Synchronize") || ((has("Memcpy") || has("Memset")) && !has("Async"));
}

}  // namespace tracedb
