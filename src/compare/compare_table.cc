#include "tracedb/compare/compare_table.h"

#include <algorithm>
#include <set>
#include <string>

namespace tracedb {
namespace {

std::string FactOf(const RunUsed& run, const std::string& fact) {
  const auto at = run.facts.find(fact);
  return at == run.facts.end() ? "" : at->second;
}

// What is not known of a run is no difference; but an argument that only one of two logs has is.
std::vector<std::string> FactsThatDiffer(const std::vector<RunUsed>& runs) {
  std::set<std::string> facts;
  for (const RunUsed& run : runs) {
    for (const auto& [fact, value] : run.facts) facts.insert(fact);
  }
  std::vector<std::string> differ;
  for (const std::string& fact : facts) {
    std::set<std::string> values;
    for (const RunUsed& run : runs) {
      const bool is_missing = fact.starts_with(kArgumentFact) && run.HasArguments();
      if (is_missing || run.facts.contains(fact)) values.insert(FactOf(run, fact));
    }
    if (values.size() > 1) differ.push_back(fact);
  }
  return differ;
}

Cell TextCell(std::string_view text) { return {SqlType::kText, 0, 0, text}; }
Cell CountCell(size_t count) { return {SqlType::kInteger, static_cast<int64_t>(count), 0, ""}; }
Cell MsCell(int64_t ns) { return {SqlType::kReal, 0, static_cast<double>(ns) / 1e6, ""}; }

}  // namespace

Status WriteRunsTable(const std::vector<RunUsed>& runs, RowSink& sink) {
  const std::vector<std::string> facts = FactsThatDiffer(runs);
  std::vector<std::string> names = {"run", "gpus", "steps"};
  names.insert(names.end(), facts.begin(), facts.end());
  names.insert(names.end(), {"step_ms", "change_pct"});
  std::vector<size_t> parts;
  for (size_t i = 0; i < kStepParts.size(); ++i) {
    const bool is_any = std::any_of(runs.begin(), runs.end(),
                                    [&](const RunUsed& run) { return run.parts_ns[i] != 0; });
    if (!is_any) continue;
    parts.push_back(i);
    names.push_back(std::string(kStepParts[i]) + "_ms");
  }
  TRACEDB_TRY(sink.Begin(names));
  const auto first_ns = static_cast<double>(runs.front().step_ns);
  for (const RunUsed& run : runs) {
    std::vector<std::string> values;
    for (const std::string& fact : facts) values.push_back(FactOf(run, fact));
    std::vector<Cell> cells = {TextCell(run.name), run.is_log ? Cell{} : CountCell(run.ranks),
                               CountCell(run.steps)};
    for (const std::string& value : values) cells.push_back(TextCell(value));
    cells.push_back(MsCell(run.step_ns));
    const double change_ns = static_cast<double>(run.step_ns) - first_ns;
    cells.push_back({SqlType::kReal, 0, first_ns == 0 ? 0 : 100 * change_ns / first_ns, ""});
    for (const size_t part : parts) cells.push_back(MsCell(run.parts_ns[part]));
    TRACEDB_TRY(sink.Row(cells));
  }
  return sink.End();
}

}  // namespace tracedb
