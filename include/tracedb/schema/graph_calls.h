// Calls of the CUDA or HIP runtime and driver that have to do with graphs, known by their names.
#pragma once

#include <cstdint>
#include <string_view>

namespace tracedb {

// As stored in _captured_launch.kind, where it is one of the first four or kBody.
enum class GraphCall : uint8_t {
  kNone = 0,
  kKernel = 1,  // launches a kernel: cudaLaunchKernel, cuLaunchKernelEx, hipExtModuleLaunchKernel
  kCopy = 2,    // cudaMemcpyAsync
  kFill = 3,    // cudaMemsetAsync
  kReplay = 4,  // launches a graph: cudaGraphLaunch, hipGraphLaunch
  kBegin = 5,   // from here on calls of the thread go into a graph: cudaStreamBeginCapture
  kEnd = 6,
  kBody = 7,  // the same for a part that a replay runs under a condition, once, often or never:
              // cudaStreamBeginCaptureToGraph
};

constexpr GraphCall GraphCallOf(std::string_view name) {
  const auto has = [name](std::string_view word) { return name.find(word) != name.npos; };
  if (!name.starts_with("cu") && !name.starts_with("hip")) return GraphCall::kNone;
  if (has("GraphLaunch")) return GraphCall::kReplay;
  if (has("Launch") && has("Kernel")) return GraphCall::kKernel;
  if (has("StreamBeginCaptureToGraph")) return GraphCall::kBody;
  if (has("StreamBeginCapture")) return GraphCall::kBegin;
  if (has("StreamEndCapture")) return GraphCall::kEnd;
  if (has("Graph")) return GraphCall::kNone;  // cudaGraphAddMemcpyNode copies nothing
  if (has("Memcpy")) return GraphCall::kCopy;
  return has("Memset") ? GraphCall::kFill : GraphCall::kNone;
}

}  // namespace tracedb
