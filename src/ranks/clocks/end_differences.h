// What clocks are compared by: when one rank left a collective, less when another one left it.
// Memory is bounded: of many differences evenly chosen ones are kept.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace tracedb {

// How the two ends belong together.
enum class EndKind : uint8_t {
  kTogether,     // nobody leaves before all have given their part
  kFirstSends,   // the first rank's send ends before the second's receive, often long before
  kSecondSends,  // the other way round
};
inline constexpr size_t kEndKinds = 3;

// What a collective of that name means for the ends of its ranks; nothing: they tell nothing, as
// the root of a broadcast leaves early.
enum class EndRole : uint8_t { kTogether, kSend, kReceive };
std::optional<EndRole> EndRoleOf(std::string_view collective);

struct EndDifference {
  int64_t at_ns;  // the end on the first rank, by its clock
  int64_t by_ns;  // the end on the second rank, by its clock, less that
};

// Keeps every n-th of what it is given.
class EvenSample {
 public:
  void Add(EndDifference difference) {
    if (seen_++ % stride_ == 0) kept_.push_back(difference);
  }
  // Every other one goes, and so do those to come.
  void Halve();
  const std::vector<EndDifference>& kept() const { return kept_; }
  int64_t seen() const { return seen_; }

 private:
  std::vector<EndDifference> kept_;
  int64_t stride_ = 1;
  int64_t seen_ = 0;
};

struct RankPair {
  int32_t first = 0;  // places in the list of ranks; first < second
  int32_t second = 0;
  std::array<EvenSample, kEndKinds> ends;
  int64_t Seen() const;
};

struct CollectiveEnd {
  int32_t rank = 0;  // place in the list of ranks
  EndRole role = EndRole::kTogether;
  int64_t end_ns = 0;
};

class EndDifferences {
 public:
  // About `kept_max` differences are kept in all, more when there are very many pairs.
  explicit EndDifferences(size_t kept_max) : kept_max_(kept_max), thin_at_(kept_max) {}

  // The parts of one collective, in any order. In large groups not every rank is compared with
  // every other one. Nothing is taken from a collective of which a rank has two parts.
  void AddCollective(std::vector<CollectiveEnd>& parts);

  // Sorted by the ranks; leaves nothing behind.
  std::vector<RankPair> Take();

 private:
  void AddPair(const CollectiveEnd& one, const CollectiveEnd& other);
  void ThinOut();

  size_t kept_max_;
  size_t kept_ = 0;
  size_t thin_at_;                               // when more than so many are kept
  std::unordered_map<uint64_t, size_t> places_;  // in pairs_, by both ranks
  std::vector<RankPair> pairs_;
};

}  // namespace tracedb
