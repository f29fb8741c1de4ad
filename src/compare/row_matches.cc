#include "compare/row_matches.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <set>
#include <utility>

#include "compare/side_judge.h"

namespace tracedb {
namespace {

constexpr size_t kRenamedMax = 300;  // kernels of one operator that are compared name by name

struct Loose {  // of one side, without its like on the other
  RowKey key;
  double calls = 0;
};

std::map<RowKey, double> CallsOf(const std::vector<RunSamples>& runs) {
  std::map<RowKey, double> calls;
  for (const RunSamples& run : runs) {
    for (const auto& [key, series] : run.rows) {
      calls[key] += std::accumulate(series.calls.begin(), series.calls.end(), 0.0);
    }
  }
  return calls;
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

// Of both ends together, of the longer name.
double Likeness(const std::string& a, const std::string& b) {
  const size_t shorter = std::min(a.size(), b.size());
  size_t head = 0;
  while (head < shorter && a[head] == b[head]) ++head;
  size_t tail = 0;
  while (tail < shorter - head && a[a.size() - 1 - tail] == b[b.size() - 1 - tail]) ++tail;
  return static_cast<double>(head + tail) / static_cast<double>(std::max(a.size(), b.size()) + 1);
}

class Matcher {
 public:
  Matcher(const std::vector<RunSamples>& base, const std::vector<RunSamples>& now) {
    const auto base_calls = CallsOf(base);
    const auto now_calls = CallsOf(now);
    for (const auto& [key, calls] : base_calls) {
      if (now_calls.contains(key)) {
        matches_.push_back({RowIn::kBoth, key, key});
      } else {
        base_.push_back({key, calls});
      }
    }
    for (const auto& [key, calls] : now_calls) {
      if (!base_calls.contains(key)) now_.push_back({key, calls});
    }
  }

  // Those of `kind` that have the same key, in their order.
  template <typename KeyOf>
  void MatchOnes(const std::string& kind, RowIn in, const KeyOf& key_of) {
    std::map<std::string, std::vector<size_t>> of_base;
    std::map<std::string, std::vector<size_t>> of_now;
    for (size_t i = 0; i < base_.size(); ++i) {
      if (base_[i].key.kind == kind) of_base[key_of(base_[i].key)].push_back(i);
    }
    for (size_t i = 0; i < now_.size(); ++i) {
      if (now_[i].key.kind == kind) of_now[key_of(now_[i].key)].push_back(i);
    }
    std::vector<std::pair<size_t, size_t>> pairs;
    for (const auto& [key, places] : of_base) {
      const auto at = of_now.find(key);
      if (at == of_now.end()) continue;
      for (size_t i = 0; i < std::min(places.size(), at->second.size()); ++i) {
        pairs.emplace_back(places[i], at->second[i]);
      }
    }
    Take(pairs, in);
  }

  void MatchRenamedKernels() {
    std::map<std::string, std::pair<std::vector<size_t>, std::vector<size_t>>> by_operator;
    for (size_t i = 0; i < base_.size(); ++i) {
      if (base_[i].key.kind == "kernel") by_operator[base_[i].key.where].first.push_back(i);
    }
    for (size_t i = 0; i < now_.size(); ++i) {
      if (now_[i].key.kind == "kernel") by_operator[now_[i].key.where].second.push_back(i);
    }
    std::vector<std::pair<size_t, size_t>> pairs;
    for (const auto& [where, both] : by_operator) {
      const auto& [of_base, of_now] = both;
      if (of_base.size() > kRenamedMax || of_now.size() > kRenamedMax) continue;
      Rename(where.empty(), of_base, of_now, pairs);
    }
    Take(pairs, RowIn::kRenamed);
  }

  std::vector<RowMatch> All() {
    for (const Loose& loose : base_) matches_.push_back({RowIn::kBase, loose.key, {}});
    for (const Loose& loose : now_) matches_.push_back({RowIn::kNew, {}, loose.key});
    return std::move(matches_);
  }

 private:
  // Without an operator the names have to be alike by half, and the calls equal.
  void Rename(bool is_nowhere, const std::vector<size_t>& of_base,
              const std::vector<size_t>& of_now, std::vector<std::pair<size_t, size_t>>& pairs) {
    std::vector<std::pair<double, std::pair<size_t, size_t>>> likeness;
    for (const size_t b : of_base) {
      for (const size_t n : of_now) {
        const double alike = Likeness(base_[b].key.name, now_[n].key.name);
        const bool is_as_often = base_[b].calls == now_[n].calls;
        if (is_nowhere && (alike < 0.5 || !is_as_often)) continue;
        likeness.push_back({alike + (is_as_often ? 0.5 : 0), {b, n}});
      }
    }
    std::stable_sort(likeness.begin(), likeness.end(),
                     [](const auto& left, const auto& right) { return left.first > right.first; });
    std::set<size_t> base_taken;
    std::set<size_t> now_taken;
    for (const auto& [alike, pair] : likeness) {
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
      matches_.push_back({in, base_[b].key, now_[n].key});
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
  matcher.MatchOnes("annotation", RowIn::kBoth,
                    [](const RowKey& key) { return WithoutNumbers(key.name); });
  matcher.MatchOnes("kernel", RowIn::kBoth, [](const RowKey& key) { return key.name; });
  matcher.MatchRenamedKernels();
  return matcher.All();
}

}  // namespace tracedb
