#include "compare/recomputation.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace tracedb {
namespace {

constexpr double kAlike = 0.01;  // of calls: a step more or less of a rank

double MeanOf(const std::vector<RunSamples>& runs, const std::string& name,
              std::vector<double> RowSeries::*member) {
  return MiddleOf(runs, [&](const RunSamples& run) -> const std::vector<double>* {
    const auto at = run.rows.find({"operator", name, ""});
    return at == run.rows.end() ? nullptr : &(at->second.*member);
  });
}

double CallsOf(const std::vector<RunSamples>& runs, const std::string& name) {
  return MeanOf(runs, name, &RowSeries::calls);
}

// Of one run: the mean of its middle steps.
double CallsOf(const RunSamples& run, const std::string& name) {
  const auto at = run.rows.find({"operator", name, ""});
  return MiddleOf(run, at == run.rows.end() ? nullptr : &at->second.calls);
}

// "aten::_softmax": "Softmax", as autograd calls its nodes.
std::string NodeName(std::string_view name) {
  std::string node;
  bool begins = true;
  for (const char c :
       name.substr(name.rfind(':') == std::string_view::npos ? 0 : name.rfind(':') + 1)) {
    if (c == '_') {
      begins = true;
    } else {
      node += begins ? static_cast<char>(std::toupper(static_cast<unsigned char>(c))) : c;
      begins = false;
    }
  }
  return node;
}

struct Again {
  std::string name;
  double once = 0;  // calls of a step and rank on the side that computes once
  double again = 0;
  double cost_ns = 0;  // on the host and the GPU
};

class Finder {
 public:
  Finder(const std::vector<RunSamples>& once, const std::vector<RunSamples>& again)
      : once_(once), again_(again) {}

  // Of operators that run within the backward pass of `again`: those that have a backward.
  std::vector<Again> Find() const {
    std::vector<Again> found;
    for (const std::string& name : Within()) {
      Again calls{name, CallsOf(once_, name), CallsOf(again_, name), 0};
      if (calls.once <= 0 || !RunsMoreOften(name)) continue;
      if (!BackwardRunsAsOften(name)) continue;
      for (const auto member : {&RowSeries::ns, &RowSeries::gpu_ns}) {
        calls.cost_ns += MeanOf(again_, name, member) - MeanOf(once_, name, member);
      }
      found.push_back(std::move(calls));
    }
    std::sort(found.begin(), found.end(), [](const Again& left, const Again& right) {
      return std::pair(right.cost_ns, left.name) < std::pair(left.cost_ns, right.name);
    });
    return found;
  }

  // All operators within the backward pass that run more often: their kernels are what it costs.
  std::set<std::string> Costly() const {
    std::set<std::string> costly;
    for (const std::string& name : Within()) {
      if (RunsMoreOften(name)) costly.insert(name);
    }
    return costly;
  }

  // GPU time of a step and rank that is spent again. No operator spends more again than it did
  // before: what only one side does, such as the copies of gathered parameters, is no repetition.
  double RepeatedNs() const {
    double repeated_ns = 0;
    for (const std::string& name : Costly()) {
      const double once_ns = MeanOf(once_, name, &RowSeries::gpu_ns);
      const double more_ns = MeanOf(again_, name, &RowSeries::gpu_ns) - once_ns;
      repeated_ns += std::clamp(more_ns, 0.0, once_ns);
    }
    return repeated_ns;
  }

 private:
  std::set<std::string> Within() const {
    std::set<std::string> within;
    for (const RunSamples& run : again_) {
      within.insert(run.in_backward.begin(), run.in_backward.end());
    }
    return within;
  }

  // In each run of the one side than in any of the other: where the runs of a side are not alike,
  // their mean says nothing of either.
  bool RunsMoreOften(const std::string& name) const {
    double most = 0;
    for (const RunSamples& run : once_) most = std::max(most, CallsOf(run, name));
    return std::all_of(again_.begin(), again_.end(), [&](const RunSamples& run) {
      return CallsOf(run, name) > most * (1 + kAlike);
    });
  }

  bool BackwardRunsAsOften(const std::string& name) const {
    for (const std::string& backward :
         {name + "Backward", NodeName(name) + "Backward0", NodeName(name) + "Backward1"}) {
      const double once = CallsOf(once_, backward);
      const double again = CallsOf(again_, backward);
      if (once > 0 && std::abs(again - once) <= kAlike * once) return true;
    }
    return false;
  }

  const std::vector<RunSamples>& once_;
  const std::vector<RunSamples>& again_;
};

std::string Told(const std::vector<Again>& found, const RowChange& row) {
  constexpr size_t kNamedMax = 4;
  std::string text = fmt::format(
      "{} operator{} of the forward pass run{} twice in {}, the second time in the backward pass, "
      "{:.6g} -> {:.6g} calls of a step: ",
      found.size(), found.size() == 1 ? "" : "s", found.size() == 1 ? "s" : "",
      row.in == RowIn::kNew ? "new" : "base", row.base_calls, row.new_calls);
  for (size_t i = 0; i < std::min(found.size(), kNamedMax); ++i) {
    const bool in_new = row.in == RowIn::kNew;
    text += fmt::format("{}{} {:.6g} -> {:.6g}", i == 0 ? "" : ", ", found[i].name,
                        in_new ? found[i].once : found[i].again,
                        in_new ? found[i].again : found[i].once);
  }
  return text + (found.size() > kNamedMax ? ", ..." : "");
}

}  // namespace

std::optional<RowChange> FindRecomputation(const Sides& sides, double least_ns) {
  // An operator or two may run more often on the side that recomputes nothing: the side that
  // repeats more GPU time is the one.
  const Finder of_new(sides.base, sides.now);
  const Finder of_base(sides.now, sides.base);
  const double new_ns = of_new.RepeatedNs();
  const double base_ns = of_base.RepeatedNs();
  if (std::max(new_ns, base_ns) < least_ns) return std::nullopt;
  const bool in_new = new_ns >= base_ns;
  const Finder& finder = in_new ? of_new : of_base;
  const std::vector<Again> found = finder.Find();
  if (found.empty()) return std::nullopt;
  RowChange row;
  row.kind = "recomputation";
  row.part = "compute";
  row.name = "operators of the forward pass run twice";
  row.in = in_new ? RowIn::kNew : RowIn::kBase;
  for (const Again& calls : found) {
    row.base_calls += in_new ? calls.once : calls.again;
    row.new_calls += in_new ? calls.again : calls.once;
  }
  row.text = Told(found, row);
  const std::set<std::string> costly = finder.Costly();
  std::map<const RunSamples*, std::vector<double>> sums;
  const SeriesOfRun series = [&](const RunSamples& run) {
    std::vector<double>& sum = sums[&run];
    if (!sum.empty()) return &sum;
    sum.resize(run.used.steps);
    for (const std::string& name : costly) {
      const auto at = run.rows.find({"operator", name, ""});
      if (at == run.rows.end()) continue;
      for (size_t i = 0; i < sum.size(); ++i) sum[i] += at->second.gpu_ns[i];
    }
    return &sum;
  };
  row.base_ns = MiddleOf(sides.base, series);
  row.new_ns = MiddleOf(sides.now, series);
  row.finding = FindingOf(JudgeSides(sides, series, least_ns));
  return row;
}

}  // namespace tracedb
