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
      if (calls.once <= 0 || calls.again <= calls.once * (1 + kAlike)) continue;
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
      if (CallsOf(again_, name) > CallsOf(once_, name) * (1 + kAlike)) costly.insert(name);
    }
    return costly;
  }

 private:
  std::set<std::string> Within() const {
    std::set<std::string> within;
    for (const RunSamples& run : again_) {
      within.insert(run.in_backward.begin(), run.in_backward.end());
    }
    return within;
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
  for (const bool in_new : {true, false}) {
    const Finder finder(in_new ? sides.base : sides.now, in_new ? sides.now : sides.base);
    const std::vector<Again> found = finder.Find();
    if (found.empty()) continue;
    RowChange row;
    row.kind = "recomputation";
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
  return std::nullopt;
}

}  // namespace tracedb
