#include "tracedb/compare/baseline.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>

#include "compare/fact_differences.h"
#include "compare/series_noise.h"
#include "tracedb/base/file_bytes.h"
#include "tracedb/base/sqlite_db.h"
#include "tracedb/compare/compare_runs.h"
#include "tracedb/json/json_text.h"
#include "tracedb/text/result_text.h"

namespace tracedb {
namespace {

constexpr std::string_view kMark = "tracedb_baseline";
constexpr size_t kFileBytesMax = 16u << 20;

std::string Ms(int64_t ns) {
  std::string text;
  AppendReal(text, static_cast<double>(ns) / 1e6);
  return text;
}

// Not the numbers of its ranks: a job on other nodes is the same.
bool IsOfJob(const RunUsed& run, const std::string& fact) {
  return run.deciding.contains(fact) && fact != kIncompleteFact && fact != "rank numbers";
}

std::string RunText(const RunUsed& run) {
  std::string json = fmt::format("{{\"name\":{},\"steps\":{},\"step_ms\":{},\"parts_ms\":[",
                                 JsonString(run.name), run.steps, Ms(run.step_ns));
  for (size_t i = 0; i < run.parts_ns.size(); ++i) {
    json += (i == 0 ? "" : ",") + Ms(run.parts_ns[i]);
  }
  json += run.is_log ? "],\"times_of\":\"training log\",\"facts\":{" : "],\"facts\":{";
  bool is_first = true;
  for (const auto& [fact, value] : run.facts) {
    if (!IsOfJob(run, fact)) continue;
    json += fmt::format("{}{}:{}", is_first ? "" : ",", JsonString(fact), JsonString(value));
    is_first = false;
  }
  return json + "}}";
}

std::string_view SourceText(bool is_log) { return is_log ? "training logs" : "traces"; }

Error NoBaseline(const std::filesystem::path& path, std::string_view what) {
  return Error{ErrorKind::kInput, fmt::format("{}: {}", path.string(), what),
               "make one with: tracedb baseline -o FILE RUN RUN..."};
}

// `runs`: those of the file, in its order.
Status ReadFacts(SqliteDb& db, const std::string& text, std::vector<RunUsed>& runs) {
  TRACEDB_ASSIGN(rows, db.Prepare("SELECT r.key, f.key, f.value FROM json_each(?1, '$.runs') r, "
                                  "json_each(r.value, '$.facts') f"));
  TRACEDB_TRY(rows.Bind(1, text));
  for (;;) {
    TRACEDB_ASSIGN(row, rows.Step());
    if (!row) return Done{};
    const auto place = static_cast<size_t>(rows.Int(0));
    if (place < runs.size()) runs[place].facts.emplace(rows.Text(1), rows.Text(2));
  }
}

}  // namespace

Status CheckBaseline(const std::vector<RunUsed>& runs) {
  TRACEDB_TRY(CheckApart(runs));
  for (const RunUsed& run : runs) {
    for (const auto& [fact, value] : runs.front().facts) {
      const auto at = run.facts.find(fact);
      if (at == run.facts.end() || at->second == value || !run.deciding.contains(fact)) continue;
      return Error{
          ErrorKind::kInput,
          fmt::format("{} and {} are not alike: {} is {} and {}", ShownText(runs.front().name),
                      ShownText(run.name), fact, ShownText(value), ShownText(at->second)),
          "a baseline is of runs of one thing; tracedb compare --table shows any"};
    }
    const std::string_view why =
        run.is_whole ? "there are no steps in it" : WhyUnfit({run.steady_first, run.steady_count});
    if (const std::string lost = WhyLost(run); !lost.empty()) {
      return Error{ErrorKind::kInput, fmt::format("{}: {}", ShownText(run.name), lost),
                   "its times are not those of its steps: leave this run out"};
    }
    if (why.empty()) continue;
    return Error{ErrorKind::kInput, fmt::format("{}: {}", ShownText(run.name), why),
                 "compare takes the noise of others from a baseline: leave this run out"};
  }
  return Done{};
}

std::string BaselineJson(const std::vector<RunUsed>& runs) {
  std::string parts;
  for (const std::string_view part : kStepParts) {
    parts += fmt::format("{}\"{}\"", parts.empty() ? "" : ",", part);
  }
  std::string list;
  int64_t least = runs.front().step_ns;
  int64_t greatest = least;
  for (const RunUsed& run : runs) {
    list += (list.empty() ? "" : ",\n  ") + RunText(run);
    least = std::min(least, run.step_ns);
    greatest = std::max(greatest, run.step_ns);
  }
  return fmt::format("{{\"{}\":1,\"range_ms\":[{},{}],\n \"parts\":[{}],\n \"runs\":[{}]}}\n",
                     kMark, Ms(least), Ms(greatest), parts, list);
}

Result<std::vector<RunUsed>> ReadBaseline(const std::filesystem::path& path) {
  const std::optional<std::string> read = ReadStream(path, kFileBytesMax + 1);
  if (!read.has_value()) return NoBaseline(path, "this file cannot be read");
  const std::string& text = *read;
  if (text.size() > kFileBytesMax) return NoBaseline(path, "this file is no baseline");
  TRACEDB_ASSIGN(db, SqliteDb::OpenInMemory());
  TRACEDB_ASSIGN(valid, db.Prepare("SELECT 1 WHERE json_valid(?1) AND json_extract(?1, '$." +
                                   std::string(kMark) + "') = 1"));
  TRACEDB_TRY(valid.Bind(1, text));
  TRACEDB_ASSIGN(is_valid, valid.Step());
  if (!is_valid) return NoBaseline(path, "this file is no baseline");
  TRACEDB_ASSIGN(
      rows,
      db.Prepare(
          "SELECT r.key, r.value ->> '$.name', r.value ->> '$.step_ms', "
          "p.value, r.value ->> '$.times_of' = 'training log' FROM json_each(?1, '$.runs') r, "
          "json_each(r.value, '$.parts_ms') p ORDER BY r.key, p.key"));
  TRACEDB_TRY(rows.Bind(1, text));
  std::vector<RunUsed> runs;
  int64_t last_key = -1;
  for (;;) {
    TRACEDB_ASSIGN(row, rows.Step());
    if (!row) break;
    if (rows.Int(0) != last_key) {
      last_key = rows.Int(0);
      RunUsed& run = runs.emplace_back();
      run.name = rows.Text(1);
      run.step_ns = std::llround(rows.Real(2) * 1e6);
      run.is_log = rows.Int(4) != 0;
    }
    runs.back().parts_ns.push_back(std::llround(rows.Real(3) * 1e6));
  }
  TRACEDB_TRY(ReadFacts(db, text, runs));
  const bool are_whole = std::all_of(runs.begin(), runs.end(), [](const RunUsed& run) {
    return run.parts_ns.size() == kStepParts.size() && run.step_ns > 0;
  });
  if (runs.size() < 2 || !are_whole) return NoBaseline(path, "there are not two runs in it");
  return runs;
}

Status CheckSameJob(const std::vector<RunUsed>& baseline, const Comparison& comparison,
                    const std::filesystem::path& path) {
  if (!baseline.empty() && baseline.front().is_log != comparison.IsOfLogs()) {
    return Error{
        ErrorKind::kInput,
        fmt::format("{} has times of {}, and those compared are of {}", ShownText(path.string()),
                    SourceText(baseline.front().is_log), SourceText(comparison.IsOfLogs())),
        "make one of these with: tracedb baseline -o FILE RUN RUN..."};
  }
  for (const RunUsed& run : baseline) {
    for (const auto& [fact, value] : run.facts) {
      for (const auto* side : {&comparison.base, &comparison.now}) {
        for (const RunUsed& compared : *side) {
          const auto at = compared.facts.find(fact);
          if (at == compared.facts.end() || at->second == value) continue;
          return Error{ErrorKind::kInput,
                       fmt::format("{} is of another job: {} is {} there, and {} in {}",
                                   ShownText(path.string()), ShownText(fact), ShownText(value),
                                   ShownText(at->second), ShownText(compared.name)),
                       "make one of this job with: tracedb baseline -o FILE RUN RUN..."};
        }
      }
    }
  }
  return Done{};
}

}  // namespace tracedb
