#include "compare/row_places.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <string_view>
#include <utility>
#include <vector>

#include "tracedb/text/result_text.h"

namespace tracedb {
namespace {

std::string InnermostFirst(std::string_view path) {
  constexpr std::string_view kBetween = " > ";
  std::string text;
  while (!path.empty()) {
    const size_t at = path.rfind(kBetween);
    const size_t from = at == std::string_view::npos ? 0 : at + kBetween.size();
    text += (text.empty() ? "" : " in ") + std::string(path.substr(from));
    path = path.substr(0, at == std::string_view::npos ? 0 : at);
  }
  return text;
}

// Of the rows that tell of a part the least that add up: an operator's time is that of its kernels.
std::string_view TellingKind(const Comparison& comparison, const PartChange& part) {
  if (part.name == "idle_host") return "host";
  if (part.name.starts_with("exposed_") && part.name != "exposed_memory") return "collective";
  const bool has_operators = std::any_of(
      comparison.rows.begin(), comparison.rows.end(),
      [&](const RowChange& row) { return row.kind == "operator" && row.part == part.name; });
  return has_operators ? "operator" : "kernel";
}

}  // namespace

std::string MostOfPart(const Comparison& comparison, const PartChange& part) {
  constexpr size_t kShown = 2;
  constexpr size_t kNameWidthMax = 40;
  constexpr double kTellingShare = 0.1;
  const auto change_ns = static_cast<double>(part.new_ns - part.base_ns);
  if (part.finding.verdict == Verdict::kSame) return "";
  const std::string_view kind = TellingKind(comparison, part);
  std::map<std::string, double> by_name;
  for (const RowChange& row : comparison.rows) {
    if (row.part != part.name || row.kind == "recomputation") continue;
    if (row.kind == kind || (kind == "host" && row.kind == "annotation")) {
      by_name[row.name] += row.new_ns - row.base_ns;
    }
  }
  std::vector<std::pair<double, std::string>> most;
  for (const auto& [name, ns] : by_name) {
    if (ns * change_ns <= 0 || std::abs(ns) < kTellingShare * std::abs(change_ns)) continue;
    most.emplace_back(-std::abs(ns), name);
  }
  std::sort(most.begin(), most.end());
  std::string text;
  for (size_t i = 0; i < std::min(kShown, most.size()); ++i) {
    text += fmt::format("{}{} {:+.3f}", i == 0 ? "" : ", ",
                        CutToWidth(most[i].second, kNameWidthMax), by_name[most[i].second] / 1e6);
  }
  return text;
}

std::string PlaceText(const RowChange& row) {
  std::string text = InnermostFirst(row.path);
  if (row.kind != "operator") return text;
  const std::string own = row.name + " in ";
  return text.starts_with(own) ? text.substr(own.size()) : text == row.name ? "" : text;
}

}  // namespace tracedb
