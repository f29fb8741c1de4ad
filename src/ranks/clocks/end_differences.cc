#include "ranks/clocks/end_differences.h"

#include <algorithm>
#include <cctype>
#include <string>
#include <utility>

namespace tracedb {
namespace {

constexpr size_t kAllPairsRanksMax = 8;  // up to here every rank is compared with every other one
constexpr size_t kNearPairsRanksMax = 64;
constexpr size_t kKeptOfPairMin = 32;  // fewer are not thinned out

size_t KeptOf(const RankPair& pair) {
  size_t kept = 0;
  for (const EvenSample& sample : pair.ends) kept += sample.kept().size();
  return kept;
}

}  // namespace

std::optional<EndRole> EndRoleOf(std::string_view collective) {
  std::string name;
  for (const char c : collective) {
    if (c != '_') name += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  }
  if (name == "send") return EndRole::kSend;
  if (name == "recv") return EndRole::kReceive;
  for (const char* together : {"allreduce", "allgather", "reducescatter", "alltoall", "barrier"}) {
    if (name.find(together) != std::string::npos) return EndRole::kTogether;
  }
  return std::nullopt;
}

void EvenSample::Halve() {
  const size_t half = (kept_.size() + 1) / 2;
  for (size_t i = 0; i < half; ++i) kept_[i] = kept_[2 * i];
  kept_.resize(half);
  stride_ *= 2;
}

int64_t RankPair::Seen() const {
  int64_t seen = 0;
  for (const EvenSample& sample : ends) seen += sample.seen();
  return seen;
}

void EndDifferences::AddPair(const CollectiveEnd& one, const CollectiveEnd& other) {
  EndKind kind = EndKind::kTogether;
  if (one.role == EndRole::kSend && other.role == EndRole::kReceive) {
    kind = EndKind::kFirstSends;
  } else if (one.role == EndRole::kReceive && other.role == EndRole::kSend) {
    kind = EndKind::kSecondSends;
  } else if (one.role != EndRole::kTogether || other.role != EndRole::kTogether) {
    return;
  }
  const uint64_t key = static_cast<uint64_t>(one.rank) << 32 |
                       static_cast<uint64_t>(static_cast<uint32_t>(other.rank));
  const auto [place, is_new] = places_.try_emplace(key, pairs_.size());
  if (is_new) {
    pairs_.emplace_back();
    pairs_.back().first = one.rank;
    pairs_.back().second = other.rank;
  }
  EvenSample& sample = pairs_[place->second].ends[static_cast<size_t>(kind)];
  const size_t before = sample.kept().size();
  sample.Add({one.end_ns, other.end_ns - one.end_ns});
  kept_ += sample.kept().size() - before;
  if (kept_ > thin_at_) ThinOut();
}

void EndDifferences::ThinOut() {
  kept_ = 0;
  for (RankPair& pair : pairs_) {
    if (KeptOf(pair) > kKeptOfPairMin) {
      for (EvenSample& halved : pair.ends) halved.Halve();
    }
    kept_ += KeptOf(pair);
  }
  // Of very many pairs none may have enough to lose any: without a distance to the next time all of
  // them would be looked at for every difference.
  thin_at_ = std::max(kept_max_, kept_ + kept_ / 4);
}

void EndDifferences::AddCollective(std::vector<CollectiveEnd>& parts) {
  std::sort(parts.begin(), parts.end(),
            [](const CollectiveEnd& a, const CollectiveEnd& b) { return a.rank < b.rank; });
  const auto twice = std::adjacent_find(
      parts.begin(), parts.end(),
      [](const CollectiveEnd& a, const CollectiveEnd& b) { return a.rank == b.rank; });
  if (twice != parts.end()) return;
  const size_t count = parts.size();
  const size_t factor = count <= kAllPairsRanksMax ? 0 : count <= kNearPairsRanksMax ? 2 : 8;
  for (size_t apart = 1; apart < count; apart = factor == 0 ? apart + 1 : apart * factor) {
    for (size_t i = 0; i + apart < count; ++i) AddPair(parts[i], parts[i + apart]);
  }
}

std::vector<RankPair> EndDifferences::Take() {
  std::sort(pairs_.begin(), pairs_.end(), [](const RankPair& a, const RankPair& b) {
    return std::pair(a.first, a.second) < std::pair(b.first, b.second);
  });
  places_.clear();
  kept_ = 0;
  thin_at_ = kept_max_;
  return std::exchange(pairs_, {});
}

}  // namespace tracedb
