#include "compare/compare_charts.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <map>
#include <string_view>
#include <vector>

#include "compare/row_places.h"
#include "tracedb/text/html_text.h"
#include "tracedb/text/result_text.h"

namespace tracedb {
namespace {

constexpr double kWidth = 760;
constexpr double kNames = 176;  // room for the names on the left
constexpr double kValues = 90;  // and for the numbers on the right
constexpr double kLine = 20;
constexpr size_t kLanesMax = 8;
constexpr size_t kPixels = 520;

std::string Ms(double ns) { return fmt::format("{:.3f}", ns / 1e6); }

std::string Svg(double height, std::string_view label, std::string_view inside) {
  return fmt::format(
      "<svg class=\"plot\" role=\"img\" aria-label=\"{}\" viewBox=\"0 0 {} {}\" width=\"{}\" "
      "height=\"{}\">{}</svg>\n",
      EscapedHtml(label), kWidth, height, kWidth, height, inside);
}

std::string Words(double x, double y, std::string_view anchor, std::string_view text) {
  return fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"{}\">{}</text>", x, y, anchor,
                     EscapedHtml(text));
}

std::string Bar(double x, double y, double width, double height, std::string_view fill,
                std::string_view title) {
  return fmt::format(
      "<rect class=\"{}\" x=\"{:.2f}\" y=\"{:.1f}\" width=\"{:.2f}\" height=\"{:.1f}\"><title>{}"
      "</title></rect>",
      fill, x, y, std::max(width, 0.5), height, EscapedHtml(title));
}

class Scale {
 public:
  explicit Scale(double most_ns) : most_ns_(std::max(most_ns, 1.0)) {}
  double Width(double ns) const { return ns / most_ns_ * (kWidth - kNames - kValues); }
  double X(double ns) const { return kNames + Width(ns); }

 private:
  double most_ns_;
};

std::string_view FillOf(std::string_view part) {
  if (part == "compute") return "fill-compute";
  if (part == "exposed_memory") return "fill-memory";
  if (part.starts_with("exposed")) return "fill-comm";
  return "fill-idle";
}

// The kind that most of each pixel's time is of: 0 none, else its bit.
std::vector<int64_t> PixelKinds(const StepLane& lane, double most_ns) {
  constexpr std::array<int64_t, 3> kKinds = {1, 2, 4};
  const double pixel_ns = most_ns / static_cast<double>(kPixels);
  const auto pixels = std::min(
      kPixels, static_cast<size_t>(std::ceil(static_cast<double>(lane.span_ns) / pixel_ns)));
  std::vector<std::array<double, 3>> shares(pixels);
  for (const StepLane::Stretch& stretch : lane.stretches) {
    // What runs beside the first of the kinds is hidden.
    const auto kind = std::find_if(kKinds.begin(), kKinds.end(),
                                   [&](int64_t bit) { return (stretch.kinds & bit) != 0; });
    if (kind == kKinds.end()) continue;
    const auto start = static_cast<double>(stretch.start_ns);
    const double end = start + static_cast<double>(stretch.dur_ns);
    // By pixels, not by times: a time divided by a pixel's may round to the pixel before.
    for (auto pixel = static_cast<size_t>(start / pixel_ns); pixel < pixels; ++pixel) {
      const double from = std::max(start, static_cast<double>(pixel) * pixel_ns);
      const double until = std::min(end, static_cast<double>(pixel + 1) * pixel_ns);
      if (from >= end) break;
      shares[pixel][static_cast<size_t>(kind - kKinds.begin())] += std::max(until - from, 0.0);
    }
  }
  std::vector<int64_t> kinds(pixels, 0);
  for (size_t i = 0; i < pixels; ++i) {
    const auto most = std::max_element(shares[i].begin(), shares[i].end());
    if (*most > pixel_ns / 4) kinds[i] = kKinds[static_cast<size_t>(most - shares[i].begin())];
  }
  return kinds;
}

std::string LaneBars(const StepLane& lane, double y, double most_ns) {
  const std::vector<int64_t> kinds = PixelKinds(lane, most_ns);
  std::string bars = Bar(kNames, y, static_cast<double>(kinds.size()), kLine - 5, "sheet",
                         Ms(static_cast<double>(lane.span_ns)) + " ms");
  for (size_t first = 0; first < kinds.size();) {
    size_t end = first + 1;
    while (end < kinds.size() && kinds[end] == kinds[first]) ++end;
    if (kinds[first] != 0) {
      const std::string_view fill = kinds[first] == 1   ? "fill-compute"
                                    : kinds[first] == 2 ? "fill-comm"
                                                        : "fill-memory";
      const std::string_view name = kinds[first] == 1   ? "compute"
                                    : kinds[first] == 2 ? "communication alone"
                                                        : "copies alone";
      bars += Bar(kNames + static_cast<double>(first), y, static_cast<double>(end - first),
                  kLine - 5, fill, name);
    }
    first = end;
  }
  return bars;
}

// Lanes of new in the order of the ranks of base that have their roles.
std::vector<StepLane> InOrderOfBase(const Comparison& comparison, std::vector<StepLane> lanes) {
  std::map<int64_t, int64_t> base_ranks;
  for (const RankChange& rank : comparison.ranks) {
    if (rank.new_rank.has_value() && rank.base_rank.has_value()) {
      base_ranks[*rank.new_rank] = *rank.base_rank;
    }
  }
  const auto place = [&](const StepLane& lane) {
    const auto at = base_ranks.find(lane.rank);
    return at == base_ranks.end() ? std::numeric_limits<int64_t>::max() : at->second;
  };
  std::stable_sort(lanes.begin(), lanes.end(), [&](const StepLane& left, const StepLane& right) {
    return place(left) < place(right);
  });
  return lanes;
}

}  // namespace

std::string WaterfallChart(const Comparison& comparison) {
  const auto base_ns = static_cast<double>(comparison.base_ns);
  const auto new_ns = static_cast<double>(comparison.new_ns);
  double at_ns = base_ns;
  double most_ns = std::max(base_ns, new_ns);
  for (const PartChange& part : comparison.parts) {
    at_ns += static_cast<double>(part.new_ns - part.base_ns);
    most_ns = std::max(most_ns, at_ns);
  }
  const Scale scale(most_ns);
  double y = 2;
  std::string inside;
  const auto line = [&](std::string_view name, double from, double to, std::string_view fill,
                        const std::string& value) {
    const double left = std::min(from, to);
    inside += Words(kNames - 66, y + 12, "end", name);
    inside += Words(kNames - 8, y + 12, "end", value);  // beside the name: seen in a narrow window
    inside += Bar(scale.X(left), y, scale.Width(std::abs(to - from)), kLine - 5, fill,
                  fmt::format("{}: {} ms", name, value));
    y += kLine;
  };
  line("base", 0, base_ns, "fill-7", Ms(base_ns));
  at_ns = base_ns;
  for (const PartChange& part : comparison.parts) {
    const auto delta_ns = static_cast<double>(part.new_ns - part.base_ns);
    line(part.name, at_ns, at_ns + delta_ns, delta_ns > 0 ? "fill-1" : "fill-2",
         fmt::format("{:+.3f}", delta_ns / 1e6));
    at_ns += delta_ns;
  }
  line("new", 0, new_ns, "fill-7", Ms(new_ns));
  return Svg(y, "From the step of base to that of new, part by part, in ms", inside);
}

std::string PartsChart(const Comparison& comparison) {
  int64_t most_ns = 1;
  for (const PartChange& part : comparison.parts) {
    most_ns = std::max({most_ns, part.base_ns, part.new_ns});
  }
  const Scale scale(static_cast<double>(most_ns));
  double y = 2;
  std::string inside;
  for (const PartChange& part : comparison.parts) {
    inside += Words(kNames - 8, y + 18, "end", part.name);
    for (const bool is_new : {false, true}) {
      const auto ns = static_cast<double>(is_new ? part.new_ns : part.base_ns);
      const std::string_view side = is_new ? "new" : "base";
      inside += Bar(scale.X(0), y, scale.Width(ns), 11, FillOf(part.name),
                    fmt::format("{} {}: {} ms", part.name, side, Ms(ns)));
      inside += Words(scale.X(ns) + 6, y + 10, "start", fmt::format("{} {}", side, Ms(ns)));
      y += 13;
    }
    y += 8;
  }
  return Svg(y, "Each part of the step, of base and of new, in ms", inside);
}

std::string OperatorsChart(const Comparison& comparison, size_t most) {
  std::vector<const RowChange*> rows;
  double less_ns = 0;
  double more_ns = 0;
  for (const RowChange& row : comparison.rows) {
    if (row.kind == "operator" && row.new_ns != row.base_ns) rows.push_back(&row);
  }
  std::stable_sort(rows.begin(), rows.end(), [](const RowChange* left, const RowChange* right) {
    return std::abs(left->new_ns - left->base_ns) > std::abs(right->new_ns - right->base_ns);
  });
  if (rows.size() > most) rows.resize(most);
  for (const RowChange* row : rows) {
    less_ns = std::max(less_ns, row->base_ns - row->new_ns);
    more_ns = std::max(more_ns, row->new_ns - row->base_ns);
  }
  if (rows.empty()) return "";
  constexpr double kNamed = 340;
  constexpr double kNumbers = 60;
  const double room = kWidth - kNamed;
  const double zero = kNamed + room * less_ns / (less_ns + more_ns);
  double y = 2;
  std::string inside;
  for (const RowChange* row : rows) {
    const double delta_ns = row->new_ns - row->base_ns;
    const double width = room * std::abs(delta_ns) / (less_ns + more_ns);
    const std::string value = fmt::format("{:+.3f}", delta_ns / 1e6);
    const std::string name = row->name + (row->path.empty() ? "" : "  " + PlaceText(*row));
    inside +=
        fmt::format("<g><title>{}</title>", EscapedHtml(row->path.empty() ? row->name : row->path));
    inside += Words(kNamed - kNumbers - 8, y + 12, "end", CutToWidth(name, 40));
    inside += Words(kNamed - 8, y + 12, "end", value);
    inside += Bar(delta_ns < 0 ? zero - width : zero, y, width, kLine - 5,
                  delta_ns < 0 ? "fill-2" : "fill-1", fmt::format("{}: {} ms", name, value));
    inside += "</g>";
    y += kLine;
  }
  return Svg(y, "Operators by the change of their time on the GPU, in ms", inside);
}

std::string StepChart(const Comparison& comparison) {
  const RunUsed& base = comparison.base.front();
  const RunUsed& now = comparison.now.front();
  double most_ns = 1;
  for (const RunUsed* run : {&base, &now}) {
    for (const StepLane& lane : run->lanes) {
      most_ns = std::max(most_ns, static_cast<double>(lane.span_ns));
    }
  }
  if (base.lanes.empty() || now.lanes.empty()) return "";
  double y = 2;
  std::string inside;
  const std::vector<StepLane> new_lanes = InOrderOfBase(comparison, now.lanes);
  for (const RunUsed* run : {&base, &now}) {
    const std::vector<StepLane>& lanes = run == &base ? base.lanes : new_lanes;
    for (size_t i = 0; i < std::min(lanes.size(), kLanesMax); ++i) {
      const StepLane& lane = lanes[i];
      inside += Words(
          kNames - 8, y + 12, "end",
          fmt::format("{} rank {} GPU {}", run == &base ? "base" : "new", lane.rank, lane.device));
      inside += LaneBars(lane, y, most_ns);
      inside += Words(kNames + static_cast<double>(kPixels) + 6, y + 12, "start",
                      Ms(static_cast<double>(lane.span_ns)));
      y += kLine;
    }
    y += kLine / 2;
  }
  return Svg(y, "What ran on each GPU in a usual step of both sides, in ms", inside);
}

}  // namespace tracedb
