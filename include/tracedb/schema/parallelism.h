// What the ranks of a communicator share out among them.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace tracedb {

// By the communicator's description (the view process_groups says how).
enum class Parallelism : uint8_t { kPipeline, kData, kTensor, kExpert, kOther };
inline constexpr size_t kParallelisms = 5;

// As the view process_groups has them.
inline constexpr std::array<std::string_view, kParallelisms> kParallelismNames = {
    "pipeline", "data", "tensor", "expert", "other"};

}  // namespace tracedb
