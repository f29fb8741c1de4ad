#include "compare/log_samples.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <optional>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "compare/run_reader.h"
#include "compare/step_rows.h"

namespace tracedb {
namespace {

constexpr double kStepMsMax = 1e12;  // of a longer one the log is wrong
constexpr std::string_view kBatchFact = "global batch size";

std::optional<double> RealOf(const NamedRow& row, std::string_view name) {
  const Cell& cell = row.At(name);
  if (cell.type == SqlType::kInteger) return static_cast<double>(cell.integer);
  if (cell.type != SqlType::kReal || !std::isfinite(cell.real)) return std::nullopt;
  return cell.real;
}

std::optional<double> TimeOf(const NamedRow& row, std::string_view name) {
  const std::optional<double> ms = RealOf(row, name);
  return ms.has_value() && *ms > 0 && *ms < kStepMsMax ? ms : std::nullopt;
}

Status ReadLogFiles(const RunReader& reader, RunUsed& used) {
  TRACEDB_ASSIGN(rows, reader.db.Prepare("SELECT s.text_hash, s.path FROM _source s JOIN _run r "
                                         "USING (run_id) WHERE r.run = ?1 AND s.source_id IN "
                                         "(SELECT source_id FROM _log_iteration)"));
  TRACEDB_TRY(rows.Bind(1, used.run));
  for (;;) {
    TRACEDB_ASSIGN(row, rows.Step());
    if (!row) return Done{};
    used.recordings.emplace(rows.Text(0), rows.Text(1));
  }
}

// `batches`: of each iteration with a time; 0: its line tells none.
Status ReadIterations(const RunReader& reader, RunSamples& samples, std::vector<int64_t>& batches) {
  return reader.Each("compare/training", [&](const NamedRow& row) {
    const std::optional<double> ms = TimeOf(row, "elapsed_ms");
    if (!ms.has_value()) return;
    samples.step_ids.emplace_back(0, row.Int("iteration"));
    samples.steps_ns.push_back(std::llround(*ms * 1e6));
    samples.step_means.push_back(static_cast<double>(samples.steps_ns.back()));
    for (std::vector<int64_t>& part : samples.parts_ns) part.push_back(0);
    batches.push_back(row.Int("batch_size"));
  });
}

// Of the iterations that times are means of: it may grow until then, or beyond.
void SetBatch(const std::vector<int64_t>& batches, RunSamples& samples) {
  if (samples.middle.empty()) return;
  const auto of = [&](size_t place) { return batches[place]; };
  const int64_t least = of(*std::ranges::min_element(samples.middle, {}, of));
  const int64_t most = of(*std::ranges::max_element(samples.middle, {}, of));
  if (least <= 0) return;
  samples.used.facts[std::string(kBatchFact)] =
      least == most ? fmt::to_string(most) : fmt::format("{} to {}", least, most);
}

// What traces tell of a job, where its log does: arguments that a log has say more than that it has
// none of a name.
void SetDeciding(RunUsed& used) {
  constexpr std::array<std::pair<std::string_view, std::string_view>, 2> kNamed = {
      {{"argument world_size", "world size"}, {"argument global_batch_size", kBatchFact}}};
  for (const auto& [argument, fact] : kNamed) {
    const auto at = used.facts.find(std::string(argument));
    used.deciding.insert(std::string(fact));
    if (at == used.facts.end()) continue;
    const std::string value = at->second;
    used.facts.erase(at);
    // Of the batch, lines tell what it was in fact.
    if (fact != kBatchFact || !used.facts.contains(std::string(fact))) {
      used.facts[std::string(fact)] = value;
    }
  }
  for (const std::string_view layout :
       {"tensor_model", "pipeline_model", "context", "expert_model"}) {
    used.deciding.insert(fmt::format("{}{}_parallel_size", kArgumentFact, layout));
  }
}

Status ReadTimers(const RunReader& reader, RunSamples& samples) {
  std::map<StepId, size_t> places;
  for (const StepId& id : samples.step_ids) places.emplace(id, places.size());
  RowsOfSteps rows(places, samples);
  return reader.Each("compare/log_timers", [&](const NamedRow& row) {
    const std::optional<double> ms = TimeOf(row, "ms");
    size_t place = 0;
    if (!ms.has_value()) return;
    RowSeries* series =
        rows.At({0, row.Int("iteration")}, {std::string(kTimerRow), row.Text("name"), ""}, place);
    if (series == nullptr) return;
    series->calls[place] += 1;
    series->ns[place] += static_cast<double>(std::llround(*ms * 1e6));
  });
}

}  // namespace

Result<RunSamples> ReadLogRun(SqliteDb& db, const QueryCatalog& catalog, const std::string& run,
                              double effect_min) {
  const RunReader reader{db, catalog, run};
  RunSamples samples;
  RunUsed& used = samples.used;
  used.run = run;
  used.is_log = true;
  samples.ranks = 1;  // a time is one of all ranks together, as each of them has it
  TRACEDB_TRY(ReadLogFiles(reader, used));
  std::vector<int64_t> batches;
  TRACEDB_TRY(ReadIterations(reader, samples, batches));
  SetMiddle(samples, effect_min);
  SetBatch(batches, samples);
  used.parts_ns.assign(kStepParts.size(), 0);
  for (const size_t place : samples.middle) used.step_ns += samples.steps_ns[place];
  if (!samples.middle.empty()) used.step_ns /= static_cast<int64_t>(samples.middle.size());
  TRACEDB_TRY(ReadTimers(reader, samples));
  TRACEDB_TRY(ReadFacts(reader, samples));
  SetDeciding(used);
  // What its traces lack, where it has some, is not lacking in its log.
  used.facts.erase(std::string(kIncompleteFact));
  return samples;
}

Status ReadLog(SqliteDb& db, const QueryCatalog& catalog, RunSamples& samples) {
  constexpr size_t kPointsMax = 2000;
  std::vector<LogPoint> all;
  const RunReader reader{db, catalog, samples.used.run};
  TRACEDB_TRY(reader.Each("compare/training", [&](const NamedRow& row) {
    all.push_back({static_cast<double>(row.Int("iteration")), RealOf(row, "elapsed_ms"),
                   RealOf(row, "loss")});
  }));
  const size_t each = std::max<size_t>(1, (all.size() + kPointsMax - 1) / kPointsMax);
  for (size_t first = 0; first < all.size(); first += each) {
    const auto some = std::span(all).subspan(first, std::min(each, all.size() - first));
    const auto mean = [&](const auto& of) {
      double sum = 0;
      double count = 0;
      for (const LogPoint& point : some) {
        const std::optional<double> value = of(point);
        if (!value.has_value()) continue;
        sum += *value;
        ++count;
      }
      return count == 0 ? std::nullopt : std::optional(sum / count);
    };
    samples.used.log.push_back(
        {*mean([](const LogPoint& point) { return std::optional(point.iteration); }),
         mean([](const LogPoint& point) { return point.elapsed_ms; }),
         mean([](const LogPoint& point) { return point.loss; })});
  }
  return Done{};
}

}  // namespace tracedb
