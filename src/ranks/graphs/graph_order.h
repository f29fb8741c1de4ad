// Which of a replay's kernels is which launch of a capture: the rules alone, without a database.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace tracedb {

enum class GraphNodeKind : uint8_t { kKernel = 1, kCopy = 2, kFill = 3, kGraph = 4, kBody = 7 };

// What is known of a kernel, copy or fill, or of the call that launched it; 0: it is not known.
struct NodeKey {
  GraphNodeKind kind = GraphNodeKind::kKernel;
  bool is_mangled = false;  // the name is a symbol, _ZN..., which says the same in other words
  bool is_rocclr = false;   // a copy or fill that the HIP runtime makes by a kernel
  uint64_t name = 0;
  uint64_t shape = 0;        // grid and block
  uint64_t other_shape = 0;  // the same where the call counts its grid in threads
};

NodeKey KeyOf(GraphNodeKind kind, std::string_view name, std::string_view grid,
              std::string_view block);
// Whether nothing that is known of both says that they are two things.
bool CanBeOne(const NodeKey& launch, const NodeKey& activity);

struct LaunchedNode {
  NodeKey key;
  uint64_t meaning = 0;  // equal for launches of the same operators, with the same args
};

// Launches in the order in which they were made, and activities by stream, each in the order of
// time. Those of one stream run in the order of their launches; streams may be interleaved.
enum class OrderFit { kFits, kDiffers, kSeveral, kTooMany };
struct NodeOrder {
  OrderFit fit = OrderFit::kDiffers;
  std::vector<uint32_t> launch_of;  // of each activity, stream after stream
};
// kSeveral: it fits in several ways, and these do not agree in what an activity means. At most
// `states_max` ways are followed at a time.
NodeOrder FindOrder(const std::vector<LaunchedNode>& launches,
                    const std::vector<std::vector<NodeKey>>& streams, size_t states_max);

}  // namespace tracedb
