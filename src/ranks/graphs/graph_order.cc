#include "ranks/graphs/graph_order.h"

#include <array>
#include <charconv>
#include <functional>
#include <map>
#include <utility>

namespace tracedb {
namespace {

constexpr uint32_t kNoLaunch = 0xffffffff;

uint64_t HashOf(std::string_view text) {
  if (text.empty()) return 0;
  const uint64_t hash = std::hash<std::string_view>()(text);
  return hash != 0 ? hash : 1;
}

// "[8,12,1]" as its numbers.
std::optional<std::array<int64_t, 3>> Numbers(std::string_view text) {
  std::array<int64_t, 3> numbers{};
  if (text.empty() || text.front() != '[') return std::nullopt;
  const char* at = text.data();
  const char* const end = at + text.size();
  for (int64_t& number : numbers) {
    if (++at >= end) return std::nullopt;
    const auto read = std::from_chars(at, end, number);
    if (read.ec != std::errc() || read.ptr == end || number <= 0) return std::nullopt;
    at = read.ptr;
  }
  return numbers;
}

// How far each stream has come.
using Places = std::vector<uint32_t>;
struct Step {
  uint32_t from, to;  // in the levels around it
  uint32_t stream, place;
};

class OrderSearch {
 public:
  OrderSearch(const std::vector<LaunchedNode>& launches,
              const std::vector<std::vector<NodeKey>>& streams, size_t states_max)
      : launches_(launches), streams_(streams), states_max_(states_max) {}

  NodeOrder Find() {
    std::vector<Places> level{Places(streams_.size())};
    for (const LaunchedNode& launch : launches_) {
      std::map<Places, uint32_t> next;
      std::vector<Step>& steps = steps_.emplace_back();
      for (uint32_t from = 0; from < level.size(); ++from) {
        for (uint32_t stream = 0; stream < streams_.size(); ++stream) {
          const uint32_t place = level[from][stream];
          if (place == streams_[stream].size()) continue;
          if (!CanBeOne(launch.key, streams_[stream][place])) continue;
          Places places = level[from];
          ++places[stream];
          const auto to = static_cast<uint32_t>(next.size());
          const auto at = next.try_emplace(std::move(places), to).first;
          steps.push_back({from, at->second, stream, place});
          if (++states_ > states_max_) return {OrderFit::kTooMany, {}};
        }
      }
      if (next.empty()) return {OrderFit::kDiffers, {}};
      level.assign(next.size(), {});
      for (const auto& [places, number] : next) level[number] = places;
    }
    return Read();
  }

 private:
  // Back from the end: only steps that lead there count.
  NodeOrder Read() const {
    std::vector<size_t> first;
    size_t activities = 0;
    for (const std::vector<NodeKey>& stream : streams_) {
      first.push_back(activities);
      activities += stream.size();
    }
    NodeOrder order{OrderFit::kFits, std::vector<uint32_t>(activities, kNoLaunch)};
    std::vector<bool> live{true};
    for (size_t i = launches_.size(); i-- > 0;) {
      std::vector<bool> before;
      for (const Step& step : steps_[i]) {
        if (step.to >= live.size() || !live[step.to]) continue;
        if (step.from >= before.size()) before.resize(step.from + 1);
        before[step.from] = true;
        uint32_t& launch = order.launch_of[first[step.stream] + step.place];
        if (launch != kNoLaunch && launches_[launch].meaning != launches_[i].meaning) {
          return {OrderFit::kSeveral, {}};
        }
        launch = static_cast<uint32_t>(i);
      }
      live = std::move(before);
    }
    return order;
  }

  const std::vector<LaunchedNode>& launches_;
  const std::vector<std::vector<NodeKey>>& streams_;
  size_t states_max_;
  size_t states_ = 0;
  std::vector<std::vector<Step>> steps_;  // a level for each launch
};

}  // namespace

NodeKey KeyOf(GraphNodeKind kind, std::string_view name, std::string_view grid,
              std::string_view block) {
  NodeKey key;
  key.kind = kind;
  if (kind != GraphNodeKind::kKernel) return key;
  key.is_mangled = name.starts_with("_Z");
  key.is_rocclr = name.starts_with("__amd_rocclr_");
  key.name = HashOf(name);
  if (grid.empty() || block.empty()) return key;
  const std::string both = std::string(grid) + std::string(block);
  key.shape = HashOf(both);
  const auto threads = Numbers(grid);
  const auto each = Numbers(block);
  if (!threads.has_value() || !each.has_value()) return key;
  std::string blocks = "[";
  for (size_t i = 0; i < 3; ++i) {
    if ((*threads)[i] % (*each)[i] != 0) return key;
    blocks += std::to_string((*threads)[i] / (*each)[i]) + (i < 2 ? "," : "]");
  }
  key.other_shape = HashOf(blocks + std::string(block));
  return key;
}

bool CanBeOne(const NodeKey& launch, const NodeKey& activity) {
  if (launch.kind != activity.kind) {
    const bool is_memory =
        launch.kind == GraphNodeKind::kCopy || launch.kind == GraphNodeKind::kFill;
    return is_memory && activity.is_rocclr;
  }
  if (launch.name != 0 && activity.name != 0 && launch.is_mangled == activity.is_mangled &&
      launch.name != activity.name) {
    return false;
  }
  return launch.shape == 0 || activity.shape == 0 || launch.shape == activity.shape ||
         launch.other_shape == activity.shape;
}

NodeOrder FindOrder(const std::vector<LaunchedNode>& launches,
                    const std::vector<std::vector<NodeKey>>& streams, size_t states_max) {
  size_t activities = 0;
  for (const std::vector<NodeKey>& stream : streams) activities += stream.size();
  if (activities != launches.size()) return {OrderFit::kDiffers, {}};
  return OrderSearch(launches, streams, states_max).Find();
}

}  // namespace tracedb
