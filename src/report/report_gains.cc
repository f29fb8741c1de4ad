#include "report/report_gains.h"

#include <fmt/format.h>

#include "report/report_result.h"
#include "tracedb/text/result_text.h"

namespace tracedb {

Result<Gains> ReadGains(SqliteDb& db, const QueryCatalog& catalog, const ShownRun& run,
                        const FactRows& recommendations) {
  constexpr size_t kChanges = 5;  // each is a replay of the whole job
  constexpr size_t kCapture = 1, kChange = 2, kStep = 3, kMs = 4;
  Gains gains;
  const QueryDoc* doc = catalog.Find("report/step_gains");
  if (doc == nullptr) return gains;
  std::string changes;
  std::vector<int64_t> numbers = {0};
  for (const auto& row : recommendations) {
    if (row[kWhatIf].text.empty() || numbers.size() > kChanges) continue;
    if (!changes.empty()) changes += ',';
    AppendJsonText(changes, row[kWhatIf].text);
    numbers.push_back(row[kNumber].integer);
  }
  std::vector<std::string> params = ParamsOf(*doc, run);
  params.push_back(fmt::format("changes=[{}]", changes));
  TRACEDB_ASSIGN(rows, QueryRows::Open(db, catalog, doc->name, std::move(params)));
  for (;;) {
    TRACEDB_ASSIGN(any, rows.Next());
    if (!any) return gains;
    const auto change = static_cast<size_t>(rows.Int(kChange));
    if (change >= numbers.size()) continue;
    const std::optional<int64_t> step =
        rows.IsNull(kStep) ? std::nullopt : std::optional(rows.Int(kStep));
    gains.step_ms[numbers[change]][{rows.Int(kCapture), step}] = rows.Real(kMs);
  }
}

std::vector<Gain> AllGains(const Gains& gains) {
  std::vector<Gain> all;
  const auto recorded = gains.step_ms.find(0);
  if (recorded == gains.step_ms.end()) return all;
  for (const auto& [number, steps] : gains.step_ms) {
    if (number == 0) continue;
    for (const auto& [key, after_ms] : steps) {
      const auto before = recorded->second.find(key);
      if (before == recorded->second.end()) continue;
      all.push_back({number, key, before->second, after_ms});
    }
  }
  return all;
}

std::string GainsAsJson(const std::vector<Gain>& gains) {
  std::string json = "[";
  for (const Gain& gain : gains) {
    json += fmt::format(
        "{}{{\"number\":{},\"capture\":{},\"step\":{},\"before_ms\":{},"
        "\"after_ms\":{}}}",
        json.size() == 1 ? "" : ",", gain.number, gain.key.first,
        gain.key.second.has_value() ? std::to_string(*gain.key.second) : "null", gain.before_ms,
        gain.after_ms);
  }
  return json + "]";
}

}  // namespace tracedb
