#include "compare/run_samples.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>
#include <optional>
#include <span>
#include <string_view>
#include <tuple>
#include <utility>

#include "compare/kernel_rows.h"
#include "compare/rank_roles.h"
#include "compare/run_reader.h"
#include "compare/series_noise.h"
#include "compare/step_rows.h"
#include "tracedb/query/run/gathered_notes.h"

namespace tracedb {
namespace {

constexpr std::string_view kStepName = "ProfilerStep#";

struct StepSum {
  int64_t start_ns = 0;  // the first of any rank's
  size_t rows = 0;
  int64_t span_ns = 0;
  std::array<int64_t, kStepParts.size()> parts_ns{};
};

using StepInOrder = std::tuple<int64_t, int64_t, StepId>;  // capture, start

// The last step of a capture ends with its last activity, not with the first of the next step: it
// is left out where there are three others.
void LeaveOutLast(std::vector<StepInOrder>& order) {
  constexpr size_t kFew = 3;
  std::map<int64_t, size_t> steps;
  for (const auto& step : order) ++steps[std::get<0>(step)];
  std::vector<StepInOrder> left;
  for (size_t i = 0; i < order.size(); ++i) {
    const int64_t capture = std::get<0>(order[i]);
    const bool is_last = i + 1 == order.size() || std::get<0>(order[i + 1]) != capture;
    if (!is_last || steps[capture] <= kFew) left.push_back(order[i]);
  }
  order = std::move(left);
}

// Steps in the order of time, those of all ranks; {capture, step}: its place.
Result<std::map<StepId, size_t>> ReadSteps(const RunReader& reader, RunSamples& samples) {
  std::map<StepId, StepSum> sums;
  std::map<StepId, StepSum> outside;
  TRACEDB_TRY(reader.Each("time_partition", [&](const NamedRow& row) {
    StepSum& sum = (row.IsNull("step") ? outside : sums)[{row.Int("capture"), row.Int("step")}];
    const int64_t start_ns = row.Ns("start_ms");
    sum.start_ns = sum.rows == 0 ? start_ns : std::min(sum.start_ns, start_ns);
    ++sum.rows;
    sum.span_ns += row.Ns("span_ms");
    for (size_t i = 0; i < kStepParts.size(); ++i) {
      sum.parts_ns[i] += row.Ns(fmt::format("{}_ms", kStepParts[i]));
    }
  }));
  samples.used.is_whole = sums.empty();
  if (sums.empty()) sums = std::move(outside);
  for (const auto& [id, sum] : sums) samples.ranks = std::max(samples.ranks, sum.rows);
  std::vector<StepInOrder> order;
  for (const auto& [id, sum] : sums) {
    if (sum.rows == samples.ranks) order.emplace_back(id.first, sum.start_ns, id);
  }
  std::sort(order.begin(), order.end());
  LeaveOutLast(order);
  std::map<StepId, size_t> places;
  for (const auto& [capture, start_ns, id] : order) {
    places[id] = samples.steps_ns.size();
    const StepSum& sum = sums[id];
    const int64_t parts_ns = std::accumulate(sum.parts_ns.begin(), sum.parts_ns.end(), int64_t{0});
    if (parts_ns != sum.span_ns) {
      return Error{ErrorKind::kInput,
                   fmt::format("{}: the parts of step {} do not add up to it",
                               reader.db.path().string(), id.second),
                   "ingest the traces again"};
    }
    samples.step_ids.push_back(id);
    samples.steps_ns.push_back(sum.span_ns);
    samples.step_means.push_back(static_cast<double>(sum.span_ns) /
                                 static_cast<double>(samples.ranks));
    for (size_t i = 0; i < kStepParts.size(); ++i) {
      samples.parts_ns[i].push_back(sum.parts_ns[i]);
    }
  }
  return places;
}

// `plain`: without the parameter that some of the queries have.
Status ReadRows(const RunReader& reader, const RunReader& plain,
                const std::map<StepId, size_t>& places, RunSamples& samples) {
  RowsOfSteps rows(places, samples);
  const auto add = [&](const NamedRow& row, RowKey& key, std::string_view calls,
                       std::string_view time) {
    size_t place = 0;
    RowSeries* series = rows.At(row, key, place);
    if (series == nullptr) return;
    series->calls[place] += static_cast<double>(row.Int(calls));
    series->ns[place] += static_cast<double>(row.Ns(time));
  };
  TRACEDB_TRY(reader.Each("compare/host_work", [&](const NamedRow& row) {
    size_t place = 0;
    RowSeries* series = rows.At(row, {row.Text("kind"), row.Text("name"), ""}, place);
    if (series == nullptr) return;
    series->calls[place] += static_cast<double>(row.Int("calls"));
    series->ns[place] += static_cast<double>(row.Ns("self_ms"));
    series->gpu_ns[place] += static_cast<double>(row.Ns("self_gpu_ms"));
    series->ranks.insert(row.Int("rank"));
  }));
  TRACEDB_TRY(ReadKernelRows(reader, plain, places, samples));
  TRACEDB_TRY(reader.Each("compare/collectives", [&](const NamedRow& row) {
    std::string name = fmt::format("{} of {} bytes", row.Text("collective"), row.Int("bytes"));
    const std::string part = "exposed_" + row.Text("parallelism");
    const bool is_part = std::find(kStepParts.begin(), kStepParts.end(), part) != kStepParts.end();
    if (row.At("parallelism").type != SqlType::kNull) {
      name += fmt::format(", {} parallel of {}", row.Text("parallelism"), row.Int("group_ranks"));
    }
    RowKey key{"collective", std::move(name), ""};
    add(row, key, "parts", "gpu_ms");
    if (key.name != kFurtherNames) {
      samples.parts.try_emplace(std::move(key), is_part ? part : "exposed_other");
    }
  }));
  TRACEDB_ASSIGN(gathered, IsGathered(reader.db));
  if (gathered) return Done{};  // what ran below what is in no summary
  return plain.Each("compare/recomputation", [&](const NamedRow& row) {
    RowKey key{"operator", row.Text("name"), ""};
    if (samples.rows.contains(key)) samples.in_backward.insert(std::move(key.name));
  });
}

// Means over the steps of `middle` and the ranks, as whole nanoseconds that add up.
void SetMeans(RunSamples& samples) {
  RunUsed& used = samples.used;
  used.parts_ns.assign(kStepParts.size(), 0);
  const auto count = static_cast<int64_t>(samples.middle.size() * samples.ranks);
  if (count == 0) return;
  const auto total = [&](const std::vector<int64_t>& values) {
    int64_t sum = 0;
    for (const size_t place : samples.middle) sum += values[place];
    return sum;
  };
  std::vector<int64_t> totals;
  for (const std::vector<int64_t>& part : samples.parts_ns) totals.push_back(total(part));
  used.step_ns = total(samples.steps_ns) / count;
  used.parts_ns = MeansThatAddUp(totals, count, used.step_ns);
}

// Of the same steps, of all GPUs together.
void SetKernelTime(RunSamples& samples) {
  if (!samples.has_paths || samples.middle.empty()) return;
  double sum = 0;
  for (const size_t place : samples.middle) sum += samples.kernel_ns[place];
  samples.used.kernel_ns = std::llround(sum / static_cast<double>(samples.middle.size()));
}

// Sets kLostFact and kUnlaunchedFact. Summaries of other databases do not tell it.
Status ReadLost(const RunReader& reader, RunUsed& used) {
  TRACEDB_ASSIGN(gathered, IsGathered(reader.db));
  if (gathered) return Done{};
  constexpr double kAtEndPctMax = 10;  // as the query has it: more than what was still to run
  double lost_pct = 0;
  TRACEDB_TRY(reader.EachOfAll("doctor/launches_without_kernel", [&](const NamedRow& row) {
    if (row.Text("run") != used.run) return;
    const auto launches = static_cast<double>(row.Int("launches"));
    const double at_end_pct = 100 * static_cast<double>(row.Int("at_end")) / launches;
    const double pct = 100 * static_cast<double>(row.Int("count")) / launches +
                       (at_end_pct > kAtEndPctMax ? at_end_pct : 0);
    lost_pct = std::max(lost_pct, pct);
  }));
  used.facts[std::string(kLostFact)] = fmt::format("{:.3g}", lost_pct);
  double unlaunched_pct = 0;
  TRACEDB_TRY(reader.EachOfAll("doctor/kernels_without_launch", [&](const NamedRow& row) {
    if (row.Text("run") != used.run) return;
    const double pct =
        100 * static_cast<double>(row.Int("count")) / static_cast<double>(row.Int("activities"));
    unlaunched_pct = std::max(unlaunched_pct, pct);
  }));
  used.facts[std::string(kUnlaunchedFact)] = fmt::format("{:.3g}", unlaunched_pct);
  return Done{};
}

Status ReadRecordings(SqliteDb& db, RunUsed& used) {
  TRACEDB_ASSIGN(rows, db.Prepare("SELECT t.text_hash, t.path FROM _trace t JOIN _run r "
                                  "USING (run_id) WHERE r.run = ?1 AND t.events > 0"));
  TRACEDB_TRY(rows.Bind(1, used.run));
  for (;;) {
    TRACEDB_ASSIGN(row, rows.Step());
    if (!row) return Done{};
    used.recordings.emplace(rows.Text(0), rows.Text(1));
  }
}

}  // namespace

std::vector<int64_t> MeansThatAddUp(std::span<const int64_t> totals, int64_t count, int64_t mean) {
  std::vector<int64_t> means;
  std::vector<std::pair<int64_t, size_t>> rests;
  for (const int64_t total : totals) {
    rests.emplace_back(total % count, means.size());
    means.push_back(total / count);
    mean -= means.back();
  }
  std::sort(rests.begin(), rests.end());
  for (; mean > 0; --mean) {
    ++means[rests.back().second];
    rests.pop_back();
  }
  return means;
}

Status ReadFacts(const RunReader& reader, RunSamples& samples) {
  return reader.Each("compare/facts", [&](const NamedRow& row) {
    samples.used.facts[row.Text("fact")] = row.Text("value");
    if (row.Int("decides") != 0) samples.used.deciding.insert(row.Text("fact"));
    const Cell& alike = row.At("alike_pct");
    if (alike.type == SqlType::kReal) samples.alike_pct[row.Text("fact")] = alike.real;
  });
}

void SetMiddle(RunSamples& samples, double effect_min) {
  RunUsed& used = samples.used;
  used.steps = samples.steps_ns.size();
  const SteadyPart steady = FindSteadyPart(samples.step_means, effect_min);
  used.steady_first = steady.first;
  used.steady_count = steady.count;
  const size_t count = steady.count == 0 ? used.steps : steady.count;
  samples.middle = MiddlePlaces(std::span(samples.step_means).subspan(steady.first, count));
  for (size_t& place : samples.middle) place += steady.first;
}

Result<RunSamples> ReadRun(SqliteDb& db, const QueryCatalog& catalog, const std::string& run,
                           double effect_min) {
  const RunReader reader{db, catalog, run};
  RunSamples samples;
  samples.used.run = run;
  TRACEDB_TRY(ReadRecordings(db, samples.used));
  TRACEDB_ASSIGN(places, ReadSteps(reader, samples));
  samples.used.ranks = samples.ranks;
  SetMiddle(samples, effect_min);
  SetMeans(samples);
  const RunReader rows = samples.used.is_whole ? reader.With("whole=1") : reader;
  TRACEDB_TRY(ReadRows(rows, reader, places, samples));
  SetKernelTime(samples);
  TRACEDB_TRY(ReadRoles(reader, samples));
  TRACEDB_TRY(ReadCausedWaits(rows, places, samples));
  TRACEDB_TRY(ReadLost(reader, samples.used));
  TRACEDB_TRY(ReadFacts(reader, samples));
  return samples;
}

Status ReadPath(SqliteDb& db, const QueryCatalog& catalog, RunSamples& samples) {
  TRACEDB_ASSIGN(gathered, IsGathered(db));
  if (gathered) {
    return Error{ErrorKind::kQuery,
                 fmt::format("{}: the critical path of a gathered database has no names to compare",
                             samples.used.name),
                 "leave --critical-path out, or compare databases of all traces"};
  }
  std::map<StepId, size_t> places;
  for (const StepId& id : samples.step_ids) places.emplace(id, places.size());
  RowsOfSteps rows(places, samples);
  const auto ranks = static_cast<double>(samples.ranks);  // rows are of a rank, the path is of all
  const RunReader reader{db, catalog, samples.used.run, {"by=name", "limit=null"}};
  return reader.Each("critical_path_by", [&](const NamedRow& row) {
    if (row.IsNull("step")) return;
    std::string name = row.Text("name");
    if (name.starts_with(kStepName)) name = kStepName;  // each step has a number of its own
    std::string key = fmt::format("{}: {}", row.Text("kind"), name);
    size_t place = 0;
    RowSeries* series = rows.At(row, {std::string(kPathRow), std::move(key), ""}, place);
    if (series == nullptr) return;
    series->calls[place] += ranks * static_cast<double>(row.Int("stretches"));
    series->ns[place] += ranks * static_cast<double>(row.Ns("dur_ms"));
  });
}

Status ReadLanes(SqliteDb& db, const QueryCatalog& catalog, std::optional<int64_t> like,
                 RunSamples& samples) {
  TRACEDB_ASSIGN(gathered, IsGathered(db));
  if (samples.middle.empty() || gathered) return Done{};
  std::vector<size_t> places = samples.middle;  // the one in the middle of those in the middle
  const auto half = places.begin() + static_cast<ptrdiff_t>(places.size() / 2);
  std::nth_element(places.begin(), half, places.end(), [&](size_t left, size_t right) {
    return samples.steps_ns[left] < samples.steps_ns[right];
  });
  size_t place = *half;
  for (size_t i = 0; i < samples.step_ids.size() && like.has_value(); ++i) {
    if (samples.step_ids[i].second == *like) place = i;
  }
  const auto [capture, step] = samples.step_ids[place];
  samples.used.usual_step = step;
  const RunReader reader{db,
                         catalog,
                         samples.used.run,
                         {fmt::format("capture={}", capture),
                          samples.used.is_whole ? "whole=1" : fmt::format("step={}", step)}};
  std::vector<StepLane>& lanes = samples.used.lanes;
  return reader.Each("compare/step_timeline", [&](const NamedRow& row) {
    const int64_t rank = row.Int("rank");
    const Cell& device = row.At("device");
    std::string name = device.type == SqlType::kInteger ? fmt::to_string(device.integer)
                                                        : std::string(device.text);
    if (lanes.empty() || lanes.back().rank != rank || lanes.back().device != name) {
      lanes.push_back({rank, std::move(name), row.Ns("span_ms"), {}});
    }
    lanes.back().stretches.push_back({row.Ns("start_ms"), row.Ns("dur_ms"), row.Int("kinds")});
  });
}

}  // namespace tracedb
