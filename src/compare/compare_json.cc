#include "tracedb/compare/compare_json.h"

#include <fmt/format.h>

#include <cmath>
#include <string_view>

#include "compare/row_places.h"
#include "tracedb/compare/compare_words.h"
#include "tracedb/json/json_text.h"
#include "tracedb/text/result_text.h"

namespace tracedb {
namespace {

std::string Real(double real) {
  if (!std::isfinite(real)) return "null";
  std::string json;
  AppendReal(json, real);
  return json;
}

std::string Ms(double ns) { return Real(std::round(ns) / 1e6); }

template <typename Values, typename OneText>
std::string Array(const Values& values, const OneText& one) {
  std::string json;
  for (const auto& value : values) json += (json.empty() ? "" : ",") + one(value);
  return "[" + json + "]";
}

// Of `whole_ns`; null where that is nothing.
std::string Pct(double ns, double whole_ns) {
  return whole_ns == 0 ? "null" : Real(100 * ns / whole_ns);
}

std::string FindingJson(const Finding& finding, double base_ns) {
  const bool is_judged = finding.least_visible_ns.has_value();
  std::string json = fmt::format(R"("verdict":{},"p":{})", JsonString(VerdictName(finding.verdict)),
                                 is_judged ? Real(finding.p) : "null");
  if (is_judged) {
    json += fmt::format(R"(,"interval_pct":[{},{}],"least_visible_pct":{})",
                        Pct(finding.low_ns, base_ns), Pct(finding.high_ns, base_ns),
                        Pct(*finding.least_visible_ns, base_ns));
  } else {
    json += R"(,"interval_pct":null,"least_visible_pct":null)";
  }
  if (!finding.reason.empty()) json += R"(,"reason":)" + JsonString(finding.reason);
  return json;
}

std::string RunJson(const RunUsed& run) {
  return fmt::format(
      R"({{"name":{},"run":{},"gpus":{},"steps":{},"steady_first":{},"steady_steps":{},)"
      R"("step_ms":{},"times_of":"{}"}})",
      JsonString(run.name), JsonString(run.run), run.is_log ? "null" : fmt::to_string(run.ranks),
      run.steps, run.steady_first, run.steady_count, Ms(static_cast<double>(run.step_ns)),
      run.is_log ? "training log" : "traces");
}

std::string DifferenceJson(const FactDifference& difference) {
  return fmt::format(R"({{"fact":{},"base":{},"new":{},"decides":{}}})",
                     JsonString(difference.fact), JsonString(difference.base),
                     JsonString(difference.now), difference.decides);
}

std::string UnlikeJson(const UnlikeRuns& unlike) {
  const auto value = [](const ValueOfRuns& one) {
    return fmt::format(R"({{"value":{},"runs":{}}})", JsonString(one.value),
                       Array(one.runs, [](const std::string& run) { return JsonString(run); }));
  };
  return fmt::format(R"({{"side":"{}","fact":{},"values":{},"decides":{}}})",
                     unlike.in_new ? "new" : "base", JsonString(unlike.fact),
                     Array(unlike.values, value), unlike.decides);
}

std::string Times(double base_ns, double new_ns) {
  return fmt::format(R"("base_ms":{},"new_ms":{},"delta_ms":{})", Ms(base_ns), Ms(new_ns),
                     Ms(std::round(new_ns) - std::round(base_ns)));
}

std::string PartJson(const Comparison& comparison, const PartChange& part) {
  const auto base_ns = static_cast<double>(part.base_ns);
  return fmt::format(R"({{"name":{},{},{},"changed_most":{}}})", JsonString(part.name),
                     Times(base_ns, static_cast<double>(part.new_ns)),
                     FindingJson(part.finding, base_ns), JsonString(MostOfPart(comparison, part)));
}

template <typename Integer>
std::string Number(const std::optional<Integer>& number) {
  return number.has_value() ? fmt::to_string(*number) : "null";
}

std::string RankJson(const RankChange& rank) {
  return fmt::format(R"({{"role":{},"base_rank":{},"new_rank":{},{},{}}})", JsonString(rank.role),
                     Number(rank.base_rank), Number(rank.new_rank),
                     Times(rank.base_ns, rank.new_ns), FindingJson(rank.finding, rank.base_ns));
}

std::string KernelTime(const Comparison& comparison) {
  if (!comparison.base_kernel_ns.has_value() || !comparison.new_kernel_ns.has_value()) {
    return "null";
  }
  return "{" +
         Times(static_cast<double>(*comparison.base_kernel_ns),
               static_cast<double>(*comparison.new_kernel_ns)) +
         "}";
}

std::string RowJson(const RowChange& row) {
  std::string json = fmt::format(R"({{"kind":{},"name":{},"in":{})", JsonString(row.kind),
                                 JsonString(row.name), JsonString(RowInName(row.in)));
  if (!row.base_name.empty()) json += R"(,"base_name":)" + JsonString(row.base_name);
  if (!row.part.empty()) json += R"(,"part":)" + JsonString(row.part);
  if (!row.text.empty()) json += R"(,"text":)" + JsonString(row.text);
  if (!row.path.empty()) json += R"(,"path":)" + JsonString(row.path);
  if (!row.base_path.empty()) json += R"(,"base_path":)" + JsonString(row.base_path);
  if (!row.ranks.empty()) {
    json += R"(,"ranks":)" +
            Array(row.ranks, [](const RankRole& rank) { return fmt::to_string(rank.rank); });
    json += R"(,"roles":)" +
            Array(row.ranks, [](const RankRole& rank) { return JsonString(rank.role); });
    json += R"(,"other_ranks":)" +
            Array(row.ranks, [](const RankRole& rank) { return Number(rank.other); });
  }
  return json + fmt::format(R"(,"base_calls":{},"new_calls":{},{},{}}})", Real(row.base_calls),
                            Real(row.new_calls), Times(row.base_ns, row.new_ns),
                            FindingJson(row.finding, row.base_ns));
}

}  // namespace

std::string CompareJson(const Comparison& comparison) {
  const auto part = [&](const PartChange& one) { return PartJson(comparison, one); };
  const auto base_ns = static_cast<double>(comparison.base_ns);
  return fmt::format(
      "{{{},\n\"step_change_pct\":{},{},\n\"comparable\":{},\"differences\":{},\n"
      "\"unlike\":{},\n"
      "\"unit\":\"{}\",\"min_effect_pct\":{},\n\"base\":{},\n\"new\":{},\n"
      "\"parts\":{},\n\"kernels_all_gpus\":{},\"ranks_by\":\"{}\",\"ranks_moved\":{},\n"
      "\"ranks\":{},\n\"rows_left_out\":{},\n\"rows\":{}}}\n",
      FindingJson(comparison.finding, base_ns), Real(comparison.ChangePct()),
      Times(base_ns, static_cast<double>(comparison.new_ns)), comparison.comparable,
      Array(comparison.differences, DifferenceJson), Array(comparison.unlike, UnlikeJson),
      UnitName(comparison), Real(100 * comparison.effect_min), Array(comparison.base, RunJson),
      Array(comparison.now, RunJson), Array(comparison.parts, part), KernelTime(comparison),
      comparison.by_role ? "role" : "number", comparison.ranks_moved,
      Array(comparison.ranks, RankJson), comparison.rows_left_out, Array(comparison.rows, RowJson));
}

}  // namespace tracedb
