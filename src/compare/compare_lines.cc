#include "compare/compare_lines.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tracedb/text/html_text.h"

namespace tracedb {
namespace {

constexpr double kWidth = 760;
constexpr double kHeight = 230;
constexpr double kLeft = 64;
constexpr double kRight = 12;
constexpr double kTop = 26;
constexpr double kBottom = 34;
constexpr int kTicks = 6;

using ValueOf = std::function<std::optional<double>(const LogPoint&)>;

struct Range {
  double low = std::numeric_limits<double>::infinity();
  double high = -std::numeric_limits<double>::infinity();
  void Add(double value) {
    low = std::min(low, value);
    high = std::max(high, value);
  }
};

// 1, 2 or 5 times a power of ten: about kTicks of them lie in the range.
double TickOf(const Range& range) {
  const double rough = (range.high - range.low) / kTicks;
  if (rough <= 0) return 1;
  const double power = std::pow(10, std::floor(std::log10(rough)));
  for (const double times : {1.0, 2.0, 5.0}) {
    if (times * power >= rough) return times * power;
  }
  return 10 * power;
}

class Lines {
 public:
  Lines(const Comparison& comparison, ValueOf value, std::string_view label)
      : comparison_(comparison), value_(std::move(value)), label_(label) {}

  // Nothing is drawn above `top`; those are counted.
  std::string Draw(double top, size_t* beyond) {
    for (const auto* side : {&comparison_.base, &comparison_.now}) {
      for (const RunUsed& run : *side) {
        for (const LogPoint& point : run.log) {
          const std::optional<double> value = value_(point);
          if (!value.has_value()) continue;
          if (*value > top) {
            if (beyond != nullptr) ++*beyond;
            continue;
          }
          x_.Add(point.iteration);
          y_.Add(*value);
        }
      }
    }
    if (x_.low > x_.high) return "";
    const double room = y_.high > y_.low ? 0.05 * (y_.high - y_.low) : 1;
    y_.low -= room;
    y_.high += room;
    if (x_.high == x_.low) x_.high = x_.low + 1;
    std::string inside = Axes();
    for (const auto* side : {&comparison_.base, &comparison_.now}) {
      const bool is_new = side == &comparison_.now;
      for (const RunUsed& run : *side) inside += Line(run, is_new, top);
    }
    return fmt::format(
        "<svg class=\"plot\" role=\"img\" aria-label=\"{}\" viewBox=\"0 0 {} {}\" width=\"{}\" "
        "height=\"{}\">{}{}</svg>\n",
        EscapedHtml(label_), kWidth, kHeight, kWidth, kHeight, inside, Legend());
  }

 private:
  double X(double x) const {
    return kLeft + (x - x_.low) / (x_.high - x_.low) * (kWidth - kLeft - kRight);
  }
  double Y(double y) const {
    return kHeight - kBottom - (y - y_.low) / (y_.high - y_.low) * (kHeight - kTop - kBottom);
  }

  std::string Axes() const {
    std::string axes =
        fmt::format("<rect class=\"sheet\" x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\"/>", kLeft,
                    kTop, kWidth - kLeft - kRight, kHeight - kTop - kBottom);
    const double y_tick = TickOf(y_);
    for (double y = std::ceil(y_.low / y_tick) * y_tick; y <= y_.high; y += y_tick) {
      const double shown = std::abs(y) < y_tick / 2 ? 0 : y;
      axes += fmt::format(
          "<line class=\"rule\" x1=\"{0}\" x2=\"{1}\" y1=\"{2:.1f}\" y2=\"{2:.1f}\"/><text "
          "x=\"{3}\" "
          "y=\"{4:.1f}\" text-anchor=\"end\">{5:.6g}</text>",
          kLeft, kWidth - kRight, Y(y), kLeft - 6, Y(y) + 4, shown);
    }
    const double x_tick = std::max(1.0, TickOf(x_));
    for (double x = std::ceil(x_.low / x_tick) * x_tick; x <= x_.high; x += x_tick) {
      axes += fmt::format("<text x=\"{:.1f}\" y=\"{}\" text-anchor=\"middle\">{:.0f}</text>", X(x),
                          kHeight - kBottom + 15, x);
    }
    return axes + fmt::format(
                      "<text class=\"label\" x=\"{}\" y=\"{}\" text-anchor=\"end\">iteration"
                      "</text>",
                      kWidth - kRight, kHeight - 3);
  }

  std::string Line(const RunUsed& run, bool is_new, double top) const {
    std::string points;
    for (const LogPoint& point : run.log) {
      const std::optional<double> value = value_(point);
      if (!value.has_value() || *value > top) continue;
      points += fmt::format("{:.1f},{:.1f} ", X(point.iteration), Y(*value));
    }
    if (points.empty()) return "";
    return fmt::format("<polyline class=\"line-{}\" points=\"{}\"><title>{}</title></polyline>",
                       is_new ? "new" : "base", points, EscapedHtml(run.name));
  }

  std::string Legend() const {
    std::string legend;
    double x = kLeft;
    for (const bool is_new : {false, true}) {
      legend += fmt::format(
          "<line class=\"line-{0}\" x1=\"{1}\" x2=\"{2}\" y1=\"12\" y2=\"12\"/><text x=\"{3}\" "
          "y=\"16\">{0}</text>",
          is_new ? "new" : "base", x, x + 24, x + 30);
      x += 90;
    }
    return legend;
  }

  const Comparison& comparison_;
  const ValueOf value_;
  const std::string_view label_;
  Range x_;
  Range y_;
};

}  // namespace

std::string IterationTimeChart(const Comparison& comparison, size_t& beyond) {
  constexpr double kUsualTimes = 2;  // of the median: a longer one would flatten all others
  const ValueOf value = [](const LogPoint& point) { return point.elapsed_ms; };
  double top = 0;
  for (const auto* side : {&comparison.base, &comparison.now}) {
    for (const RunUsed& run : *side) {
      std::vector<double> values;
      for (const LogPoint& point : run.log) {
        if (point.elapsed_ms.has_value()) values.push_back(*point.elapsed_ms);
      }
      if (values.empty()) continue;
      const auto middle = values.begin() + static_cast<ptrdiff_t>(values.size() / 2);
      std::nth_element(values.begin(), middle, values.end());
      top = std::max(top, kUsualTimes * *middle);
    }
  }
  return Lines(comparison, value, "Time of each iteration of both sides, in ms").Draw(top, &beyond);
}

std::string LossChart(const Comparison& comparison) {
  const ValueOf value = [](const LogPoint& point) { return point.loss; };
  return Lines(comparison, value, "Loss of each iteration of both sides")
      .Draw(std::numeric_limits<double>::infinity(), nullptr);
}

}  // namespace tracedb
