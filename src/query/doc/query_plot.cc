#include "tracedb/query/doc/query_plot.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>
#include <set>
#include <utility>

#include "query/doc/doc_words.h"
#include "tracedb/query/doc/query_doc.h"
#include "tracedb/text/near_name.h"
#include "tracedb/text/result_text.h"

namespace tracedb {
namespace {

constexpr size_t kSharesMax = 9;  // no more can be told apart
constexpr size_t kLabelsMax = 8;
constexpr std::string_view kHowTo =
    "write: bar COLUMN by COLUMN..., stacked COLUMN, COLUMN... by COLUMN..., line COLUMN over "
    "COLUMN by COLUMN... or roofline TFLOPS, PEAK_TFLOPS, PEAK_GBPS over INTENSITY by COLUMN...";

struct KindName {
  PlotKind kind;
  std::string_view name;
};
constexpr std::array<KindName, 4> kKinds = {{{PlotKind::kBar, "bar"},
                                             {PlotKind::kStacked, "stacked"},
                                             {PlotKind::kLine, "line"},
                                             {PlotKind::kRoofline, "roofline"}}};

std::string_view NameOf(PlotKind kind) {
  return std::find_if(kKinds.begin(), kKinds.end(),
                      [&](const KindName& known) { return known.kind == kind; })
      ->name;
}

Error Wrong(std::string what, std::string advice = std::string(kHowTo)) {
  return Error{ErrorKind::kQuery, std::move(what), std::move(advice)};
}

// The words from `at` to the next "over" or "by"; moves `at` there.
std::vector<std::string> TakeNames(const std::vector<std::string>& words, size_t& at) {
  std::vector<std::string> names;
  for (; at < words.size() && words[at] != "over" && words[at] != "by"; ++at) {
    names.push_back(words[at]);
  }
  return names;
}

Status CheckCounts(const PlotSpec& plot) {
  const std::string_view kind = NameOf(plot.kind);
  if (plot.values.empty()) return Wrong(fmt::format("'{}' of which column", kind));
  const bool stacked = plot.kind == PlotKind::kStacked;
  if (plot.kind == PlotKind::kRoofline) {
    if (plot.values.size() != 3) {
      return Wrong(fmt::format("'roofline' is of three columns, not of {}", plot.values.size()));
    }
  } else if (!stacked && plot.values.size() > 1) {
    return Wrong(fmt::format("'{}' is of one column, these are {}", kind, plot.values.size()));
  }
  if (stacked && (plot.values.size() < 2 || plot.values.size() > kSharesMax)) {
    return Wrong(
        fmt::format("'stacked' is of 2 to {} columns, not of {}", kSharesMax, plot.values.size()));
  }
  if (plot.by.size() > kLabelsMax) {
    return Wrong(fmt::format("by {} columns, at most {} are allowed", plot.by.size(), kLabelsMax));
  }
  return Done{};
}

Status CheckColumns(const PlotSpec& plot, std::span<const QueryColumn> columns) {
  std::vector<std::string> named = plot.values;
  if (!plot.over.empty()) named.push_back(plot.over);
  named.insert(named.end(), plot.by.begin(), plot.by.end());
  std::set<std::string> seen;
  for (const std::string& name : named) {
    if (!seen.insert(name).second) {
      return Wrong(fmt::format("column '{}' is named twice", ShownText(name)), "name it once");
    }
  }
  if (columns.empty()) return Done{};
  std::vector<std::string> names;
  for (const QueryColumn& column : columns) names.push_back(column.name);
  for (size_t i = 0; i < named.size(); ++i) {
    const auto known = std::find(names.begin(), names.end(), named[i]);
    if (known == names.end()) {
      const std::vector<std::string> near = NearNames(named[i], names);
      return Wrong(fmt::format("there is no column '{}'", ShownText(named[i])),
                   near.empty() ? "its columns are " + JoinNames(names) : DidYouMean(near));
    }
    const DocType type = columns[static_cast<size_t>(known - names.begin())].type;
    const bool number = type == DocType::kInteger || type == DocType::kReal;
    const bool is_place = i == plot.values.size() && plot.kind == PlotKind::kRoofline;
    if ((i < plot.values.size() || is_place) && !number) {
      return Wrong(fmt::format("column '{}' is {}, no number", named[i], DocTypeName(type)),
                   "bars and lines are of columns that are int or real");
    }
  }
  return Done{};
}

}  // namespace

Result<PlotSpec> ParsePlot(std::string_view text, std::span<const QueryColumn> columns) {
  const std::vector<std::string> words = WordsOf(text);
  if (words.empty()) return Wrong("nothing to plot");
  PlotSpec plot;
  const auto kind = std::find_if(kKinds.begin(), kKinds.end(),
                                 [&](const KindName& known) { return known.name == words[0]; });
  if (kind == kKinds.end()) {
    return Wrong(fmt::format("there is no plot '{}'", ShownText(words[0])));
  }
  plot.kind = kind->kind;
  size_t at = 1;
  plot.values = TakeNames(words, at);
  const bool has_over = at < words.size() && words[at] == "over";
  const bool needs_over = plot.kind == PlotKind::kLine || plot.kind == PlotKind::kRoofline;
  if (has_over != needs_over) {
    return Wrong(has_over ? fmt::format("'over' belongs to line, not to {}", kind->name)
                          : fmt::format("'{}' over which column", kind->name));
  }
  if (has_over) {
    const std::vector<std::string> over = TakeNames(words, ++at);
    if (over.size() != 1) {
      return Wrong(fmt::format("'over' is of one column, not of {}", over.size()));
    }
    plot.over = over[0];
  }
  if (at < words.size() && words[at] == "by") {
    plot.by = TakeNames(words, ++at);
    if (plot.by.empty()) return Wrong("'by' which column");
  }
  if (at < words.size()) return Wrong(fmt::format("one '{}' too many", words[at]));
  TRACEDB_TRY(CheckCounts(plot));
  TRACEDB_TRY(CheckColumns(plot, columns));
  return plot;
}

std::string DescribePlot(const PlotSpec& plot) {
  std::string text = fmt::format("{} {}", NameOf(plot.kind), JoinNames(plot.values));
  if (!plot.over.empty()) text += " over " + plot.over;
  if (!plot.by.empty()) text += " by " + JoinNames(plot.by);
  return text;
}

}  // namespace tracedb
