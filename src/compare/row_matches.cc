#include "compare/row_matches.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <map>
#include <numeric>
#include <set>
#include <utility>

#include "compare/side_judge.h"

namespace tracedb {
namespace {

constexpr size_t kPairsMax = 90'000;  // of one place that are compared; beyond them their order

struct Loose {  // of one side, without its like on the other
  RowKey key;
  double calls = 0;
  KernelPlace place;
};

// Calls in a step, which runs of more or fewer steps have the same of: the median, or of what is in
// few of the steps the mean.
std::map<RowKey, double> CallsOf(const std::vector<RunSamples>& runs) {
  std::map<RowKey, std::vector<double>> steps;
  for (const RunSamples& run : runs) {
    for (const auto& [key, series] : run.rows) {
      std::vector<double>& of_key = steps[key];
      of_key.insert(of_key.end(), series.calls.begin(), series.calls.end());
    }
  }
  std::map<RowKey, double> calls;
  for (auto& [key, values] : steps) {
    if (values.empty()) continue;
    const auto middle = values.begin() + static_cast<ptrdiff_t>(values.size() / 2);
    std::nth_element(values.begin(), middle, values.end());
    const double sum = std::accumulate(values.begin(), values.end(), 0.0);
    calls[key] = *middle > 0 ? *middle : sum / static_cast<double>(values.size());
  }
  return calls;
}

bool AreAsOften(double left, double right) {
  constexpr double kShareMax = 0.02;
  return std::abs(left - right) <= kShareMax * std::max(left, right);
}

KernelPlace PlaceOf(const std::vector<RunSamples>& runs, const RowKey& key) {
  for (const RunSamples& run : runs) {
    const auto at = run.kernel_places.find(key);
    if (at != run.kernel_places.end()) return at->second;
  }
  return {};
}

std::string OperatorOf(const std::vector<RunSamples>& runs, const std::string& path) {
  for (const RunSamples& run : runs) {
    const auto at = run.paths.find(path);
    if (at != run.paths.end()) return at->second.op;
  }
  return path;  // where places are operators
}

std::string WithoutNumbers(const std::string& name) {
  std::string without;
  for (const char c : name) {
    const bool is_digit = c >= '0' && c <= '9';
    if (!is_digit) {
      without += c;
    } else if (without.empty() || without.back() != '#') {
      without += '#';
    }
  }
  return without;
}

// Of both ends together, of the longer text.
double Likeness(const std::string& a, const std::string& b) {
  const size_t shorter = std::min(a.size(), b.size());
  size_t head = 0;
  while (head < shorter && a[head] == b[head]) ++head;
  size_t tail = 0;
  while (tail < shorter - head && a[a.size() - 1 - tail] == b[b.size() - 1 - tail]) ++tail;
  return static_cast<double>(head + tail) / static_cast<double>(std::max(a.size(), b.size()) + 1);
}

bool IsOnGpu(const RowKey& key) { return key.kind == "kernel" || key.kind == kGpuRow; }

// Two kernels that follow, or are followed by, the same one; itself perhaps renamed.
bool AreAlike(const RowKey& left, const RowKey& right) {
  if (left.name.empty() || right.name.empty()) return false;
  return left.name == right.name || (!left.where.empty() && left.where == right.where);
}

struct Alike {
  double score = 0;     // of kernels of one place: the highest are one
  bool is_one = false;  // even without a place
};

Alike AlikeKernels(const Loose& base, const Loose& now, double kernels) {
  const double name = Likeness(base.key.name, now.key.name);
  const bool is_as_often = AreAsOften(base.calls, now.calls);
  const bool is_grid = !base.place.grid.empty() && base.place.grid == now.place.grid;
  const bool is_after = AreAlike(base.place.before, now.place.before);
  const bool is_before = AreAlike(base.place.after, now.place.after);
  const double apart =
      std::abs(static_cast<double>(base.place.order) - static_cast<double>(now.place.order));
  Alike alike;
  alike.score = name + (is_as_often ? 0.5 : 0) + (is_grid ? 0.5 : 0) + (is_after ? 0.25 : 0) +
                (is_before ? 0.25 : 0) + 0.25 * (1 - std::min(1.0, apart / (kernels + 1)));
  alike.is_one = is_as_often && (name >= 0.5 || is_grid || (is_after && is_before));
  return alike;
}

class Matcher {
 public:
  using KeyOf = std::function<std::string(const Loose&, bool is_base)>;
  using ScoreOf = std::function<double(const Loose&, const Loose&)>;  // below 0: no match

  Matcher(const std::vector<RunSamples>& base, const std::vector<RunSamples>& now) {
    const auto base_calls = CallsOf(base);
    const auto now_calls = CallsOf(now);
    for (const auto& [key, calls] : base_calls) {
      if (now_calls.contains(key)) {
        matches_.push_back({RowIn::kBoth, key, key, {}, {}});
      } else {
        base_.push_back({key, calls, PlaceOf(base, key)});
      }
    }
    for (const auto& [key, calls] : now_calls) {
      if (!base_calls.contains(key)) now_.push_back({key, calls, PlaceOf(now, key)});
    }
  }

  // Of those that have the same key, which is not empty, the most alike first.
  void Match(RowIn in, const KeyOf& key_of, const ScoreOf& score_of) {
    std::map<std::string, std::pair<std::vector<size_t>, std::vector<size_t>>> by_key;
    for (size_t i = 0; i < base_.size(); ++i) by_key[key_of(base_[i], true)].first.push_back(i);
    for (size_t i = 0; i < now_.size(); ++i) by_key[key_of(now_[i], false)].second.push_back(i);
    by_key.erase("");
    std::vector<std::pair<size_t, size_t>> pairs;
    for (auto& [key, both] : by_key) {
      if (both.first.size() * both.second.size() > kPairsMax) {
        PairInOrder(both.first, both.second, pairs);
      } else {
        PairBest(both.first, both.second, score_of, pairs);
      }
    }
    Take(pairs, in);
  }

  // What is left of a name that is on both sides.
  void AddMoved() {
    std::map<std::pair<std::string, std::string>, std::vector<RowMatch*>> by_name;
    for (RowMatch& match : matches_) {
      if (IsOnGpu(match.base)) by_name[{match.base.kind, match.base.name}].push_back(&match);
    }
    const auto add = [&](std::vector<Loose>& loose, std::vector<RowKey> RowMatch::*more,
                         RowKey RowMatch::*side) {
      std::erase_if(loose, [&](const Loose& one) {
        const auto at = by_name.find({one.key.kind, one.key.name});
        if (at == by_name.end()) return false;
        const auto likeness = [&](const RowMatch* match) {
          return Likeness((match->*side).where, one.key.where);
        };
        RowMatch* most = *std::max_element(
            at->second.begin(), at->second.end(),
            [&](RowMatch* left, RowMatch* right) { return likeness(left) < likeness(right); });
        (most->*more).push_back(one.key);
        return true;
      });
    };
    add(base_, &RowMatch::more_base, &RowMatch::base);
    add(now_, &RowMatch::more_now, &RowMatch::now);
  }

  // Kernels without a place that have other names altogether. Those between two kernels that are on
  // both sides are one by one the same where there are as many, which run as often.
  void MatchInOrder(const std::vector<RunSamples>& base, const std::vector<RunSamples>& now) {
    const Anchors anchors = AnchorsOf(base, now);
    std::map<size_t, std::pair<std::vector<size_t>, std::vector<size_t>>> gaps;
    for (size_t i = 0; i < base_.size(); ++i) {
      if (!IsWithoutPlace(base_[i])) continue;
      const auto after =
          std::upper_bound(anchors.base.begin(), anchors.base.end(), base_[i].place.order);
      gaps[static_cast<size_t>(after - anchors.base.begin())].first.push_back(i);
    }
    for (size_t i = 0; i < now_.size(); ++i) {
      if (!IsWithoutPlace(now_[i])) continue;
      const auto after =
          std::upper_bound(anchors.now.begin(), anchors.now.end(), now_[i].place.order);
      gaps[static_cast<size_t>(after - anchors.now.begin())].second.push_back(i);
    }
    std::vector<std::pair<size_t, size_t>> pairs;
    for (auto& [gap, both] : gaps) {
      std::vector<std::pair<size_t, size_t>> of_gap;
      PairInOrder(both.first, both.second, of_gap);
      const bool are_same = both.first.size() == both.second.size() &&
                            std::all_of(of_gap.begin(), of_gap.end(), [&](const auto& pair) {
                              return AreAsOften(base_[pair.first].calls, now_[pair.second].calls);
                            });
      if (are_same) pairs.insert(pairs.end(), of_gap.begin(), of_gap.end());
    }
    Take(pairs, RowIn::kRenamed);
  }

  std::vector<RowMatch> All() {
    for (const Loose& loose : base_) matches_.push_back({RowIn::kBase, loose.key, {}, {}, {}});
    for (const Loose& loose : now_) matches_.push_back({RowIn::kNew, {}, loose.key, {}, {}});
    return std::move(matches_);
  }

 private:
  struct Anchors {  // both rising, the same kernels
    std::vector<size_t> base;
    std::vector<size_t> now;
  };

  static bool IsWithoutPlace(const Loose& loose) {
    return loose.key.kind == "kernel" && loose.key.where.empty() && loose.place.first_slice != 0;
  }

  // The orders of kernels that are on both sides: of those that changed places as many as are in
  // one order in both.
  Anchors AnchorsOf(const std::vector<RunSamples>& base, const std::vector<RunSamples>& now) const {
    std::vector<std::pair<size_t, size_t>> orders;
    for (const RowMatch& match : matches_) {
      if (match.base.kind != "kernel") continue;
      const KernelPlace of_base = PlaceOf(base, match.base);
      const KernelPlace of_now = PlaceOf(now, match.now);
      if (of_base.first_slice == 0 || of_now.first_slice == 0) continue;
      orders.emplace_back(of_base.order, of_now.order);
    }
    std::sort(orders.begin(), orders.end());
    return RisingIn(orders);
  }

  // The longest series of pairs that rises in both.
  static Anchors RisingIn(const std::vector<std::pair<size_t, size_t>>& orders) {
    constexpr size_t kNone = std::numeric_limits<size_t>::max();
    std::vector<size_t> ends;  // by length less 1: the pair with the least end
    std::vector<size_t> before(orders.size(), kNone);
    for (size_t i = 0; i < orders.size(); ++i) {
      const auto at =
          std::lower_bound(ends.begin(), ends.end(), orders[i].second,
                           [&](size_t end, size_t order) { return orders[end].second < order; });
      if (at != ends.begin()) before[i] = *(at - 1);
      if (at == ends.end()) {
        ends.push_back(i);
      } else {
        *at = i;
      }
    }
    Anchors anchors;
    for (size_t i = ends.empty() ? kNone : ends.back(); i != kNone; i = before[i]) {
      anchors.base.push_back(orders[i].first);
      anchors.now.push_back(orders[i].second);
    }
    std::reverse(anchors.base.begin(), anchors.base.end());
    std::reverse(anchors.now.begin(), anchors.now.end());
    return anchors;
  }

  void PairInOrder(std::vector<size_t>& of_base, std::vector<size_t>& of_now,
                   std::vector<std::pair<size_t, size_t>>& pairs) const {
    const auto by_order = [](const std::vector<Loose>& loose) {
      return [&loose](size_t left, size_t right) {
        return loose[left].place.order < loose[right].place.order;
      };
    };
    std::stable_sort(of_base.begin(), of_base.end(), by_order(base_));
    std::stable_sort(of_now.begin(), of_now.end(), by_order(now_));
    for (size_t i = 0; i < std::min(of_base.size(), of_now.size()); ++i) {
      pairs.emplace_back(of_base[i], of_now[i]);
    }
  }

  void PairBest(const std::vector<size_t>& of_base, const std::vector<size_t>& of_now,
                const ScoreOf& score_of, std::vector<std::pair<size_t, size_t>>& pairs) const {
    std::vector<std::pair<double, std::pair<size_t, size_t>>> scores;
    for (const size_t b : of_base) {
      for (const size_t n : of_now) {
        const double score = score_of(base_[b], now_[n]);
        if (score >= 0) scores.push_back({score, {b, n}});
      }
    }
    std::stable_sort(scores.begin(), scores.end(),
                     [](const auto& left, const auto& right) { return left.first > right.first; });
    std::set<size_t> base_taken;
    std::set<size_t> now_taken;
    for (const auto& [score, pair] : scores) {
      if (base_taken.contains(pair.first) || now_taken.contains(pair.second)) continue;
      base_taken.insert(pair.first);
      now_taken.insert(pair.second);
      pairs.push_back(pair);
    }
  }

  void Take(const std::vector<std::pair<size_t, size_t>>& pairs, RowIn in) {
    std::set<size_t> base_taken;
    std::set<size_t> now_taken;
    for (const auto& [b, n] : pairs) {
      matches_.push_back({in, base_[b].key, now_[n].key, {}, {}});
      base_taken.insert(b);
      now_taken.insert(n);
    }
    const auto leave = [](std::vector<Loose>& loose, const std::set<size_t>& taken) {
      std::vector<Loose> left;
      for (size_t i = 0; i < loose.size(); ++i) {
        if (!taken.contains(i)) left.push_back(std::move(loose[i]));
      }
      loose = std::move(left);
    };
    leave(base_, base_taken);
    leave(now_, now_taken);
  }

  std::vector<RowMatch> matches_;
  std::vector<Loose> base_;
  std::vector<Loose> now_;
};

}  // namespace

std::vector<RowMatch> MatchRows(const std::vector<RunSamples>& base,
                                const std::vector<RunSamples>& now) {
  Matcher matcher(base, now);
  matcher.Match(
      RowIn::kBoth,
      [](const Loose& loose, bool) {
        return loose.key.kind == "annotation" ? WithoutNumbers(loose.key.name) : std::string();
      },
      [](const Loose&, const Loose&) { return 0.0; });
  matcher.Match(
      RowIn::kBoth,
      [](const Loose& loose, bool) {
        return IsOnGpu(loose.key) ? loose.key.kind + loose.key.name : std::string();
      },
      [](const Loose& left, const Loose& right) {
        return Likeness(left.key.where, right.key.where) +
               (AreAsOften(left.calls, right.calls) ? 0.25 : 0);
      });
  matcher.AddMoved();
  const auto kernels = static_cast<double>(
      std::max(base.front().kernel_places.size(), now.front().kernel_places.size()));
  const auto of_place = [&](const Loose& left, const Loose& right) {
    return AlikeKernels(left, right, kernels).score;
  };
  const auto is_kernel = [](const Loose& loose) { return loose.key.kind == "kernel"; };
  matcher.Match(
      RowIn::kRenamed,
      [&](const Loose& loose, bool) { return is_kernel(loose) ? loose.key.where : ""; }, of_place);
  matcher.Match(
      RowIn::kRenamed,
      [&](const Loose& loose, bool is_base) {
        return is_kernel(loose) ? OperatorOf(is_base ? base : now, loose.key.where) : "";
      },
      of_place);
  matcher.Match(
      RowIn::kRenamed,
      [&](const Loose& loose, bool) {
        return is_kernel(loose) && loose.key.where.empty() ? "nowhere" : "";
      },
      [&](const Loose& left, const Loose& right) {
        const Alike alike = AlikeKernels(left, right, kernels);
        return alike.is_one ? alike.score : -1;
      });
  matcher.MatchInOrder(base, now);
  return matcher.All();
}

}  // namespace tracedb
