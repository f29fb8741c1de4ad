#include "tracedb/ranks/samples/place_samples.h"

#include <algorithm>
#include <cctype>
#include <limits>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "ranks/samples/zone_guess.h"

namespace tracedb {
namespace {

struct SampleSource {
  int64_t source_id = 0;
  std::optional<int64_t> run_id;
  std::optional<std::string> told_host;  // by the file itself
  std::string path;
  std::optional<std::string> host;  // as stored
  std::optional<int64_t> offset_ns;
  std::string time_source;
};

struct RunTime {
  int64_t run_id = 0;
  int64_t start_ns = 0;
  int64_t end_ns = 0;
  bool operator==(const RunTime&) const = default;
};

constexpr std::string_view kByLoad = "guessed by load";
constexpr std::string_view kByLog = "guessed by log";
constexpr std::string_view kUnknown = "zone unknown";

Result<std::vector<SampleSource>> ReadSources(SqliteDb& db) {
  TRACEDB_ASSIGN(rows, db.Prepare("SELECT z.source_id, s.run_id, s.host, s.path, z.host, "
                                  "z.utc_offset_ns, z.time_source "
                                  "FROM _gpu_sample_zone z "
                                  "JOIN _source s ON s.source_id = z.source_id ORDER BY 1"));
  std::vector<SampleSource> sources;
  for (;;) {
    TRACEDB_ASSIGN(row, rows.Step());
    if (!row) return sources;
    sources.push_back({rows.Int(0), rows.OptionalInt(1), rows.OptionalText(2),
                       std::string(rows.Text(3)), rows.OptionalText(4), rows.OptionalInt(5),
                       std::string(rows.Text(6))});
  }
}

// Whether `word` stands in `text` and neither begins nor ends within another.
bool HasWord(const std::string& text, const std::string& word) {
  const auto is_inner = [](char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0; };
  if (word.empty()) return false;
  for (size_t at = text.find(word); at != std::string::npos; at = text.find(word, at + 1)) {
    const size_t end = at + word.size();
    const bool begins = at == 0 || !is_inner(text[at - 1]);
    if (begins && (end == text.size() || !is_inner(text[end]))) return true;
  }
  return false;
}

// Without its domain.
std::string_view ShortName(std::string_view host) { return host.substr(0, host.find('.')); }

// A file says it, or its name has that of one of the traces' machines, or there is only one.
Result<std::optional<std::string>> HostOf(SqliteDb& db, const SampleSource& source) {
  TRACEDB_ASSIGN(rows, db.Prepare("SELECT DISTINCT host FROM _trace "
                                  "WHERE ?1 IS NULL OR run_id = ?1"));
  TRACEDB_TRY(source.run_id ? rows.Bind(1, *source.run_id) : rows.BindNull(1));
  std::set<std::string> hosts, named;
  bool any_unknown = false;
  for (;;) {
    TRACEDB_ASSIGN(row, rows.Step());
    if (!row) break;
    const auto host = rows.OptionalText(0);
    any_unknown |= !host.has_value();
    if (!host.has_value()) continue;
    hosts.insert(*host);
    if (source.told_host.has_value() && ShortName(*host) == ShortName(*source.told_host)) {
      return host;  // as the traces write it
    }
    if (HasWord(source.path, *host)) named.insert(*host);
  }
  if (source.told_host.has_value()) return source.told_host;
  if (named.size() == 1) return std::optional(*named.begin());
  if (hosts.size() == 1 && !any_unknown) return std::optional(*hosts.begin());
  return std::optional<std::string>();
}

// Of the GPUs that the samples may be of.
Result<std::vector<DeviceLoad>> LoadsFor(SqliteDb& db, const SampleSource& source,
                                         const std::optional<std::string>& host) {
  TRACEDB_ASSIGN(rows, db.Prepare("SELECT u.trace_id, u.device, u.start_ns, u.end_ns "
                                  "FROM _device_use u JOIN _trace t ON t.trace_id = u.trace_id "
                                  "WHERE (?1 IS NULL OR t.run_id = ?1) "
                                  "AND (?2 IS NULL OR t.host IS NULL OR t.host = ?2) "
                                  // Of summaries it is not known when a GPU was busy.
                                  "AND NOT EXISTS (SELECT 1 FROM main.sqlite_schema "
                                  "WHERE type = 'table' AND name = '_left_out') "
                                  "AND typeof(u.device) = 'integer' AND u.end_ns > u.start_ns"));
  TRACEDB_TRY(source.run_id ? rows.Bind(1, *source.run_id) : rows.BindNull(1));
  TRACEDB_TRY(host ? rows.Bind(2, std::string_view(*host)) : rows.BindNull(2));
  std::vector<DeviceLoad> loads;
  constexpr size_t kLoadsMax = 64;  // enough to tell
  for (;;) {
    TRACEDB_ASSIGN(row, rows.Step());
    if (!row || loads.size() == kLoadsMax) return loads;
    TRACEDB_ASSIGN(load, DeviceLoad::Read(db, rows.Int(0), rows.Int(1), rows.Int(2), rows.Int(3)));
    loads.push_back(std::move(load));
  }
}

// By `quantity`, its values from `low` to `high` taken as idle and busy.
Result<ZoneGuess> GuessBy(SqliteDb& db, const SampleSource& source,
                          const std::vector<DeviceLoad>& loads, std::string_view quantity,
                          double low, double high) {
  TRACEDB_ASSIGN(rows, db.Prepare("SELECT m.gpu, m.local_ns, v.value FROM _gpu_sample_name n "
                                  "JOIN _gpu_sample v ON v.source_id = n.source_id "
                                  "AND v.name_id = n.name_id "
                                  "JOIN _gpu_moment m ON m.source_id = v.source_id "
                                  "AND m.moment = v.moment "
                                  "WHERE n.source_id = ?1 AND n.quantity = ?2 "
                                  "AND m.gpu IS NOT NULL AND m.local_ns IS NOT NULL "
                                  "AND typeof(v.value) <> 'text'"));
  TRACEDB_TRY(rows.Bind(1, source.source_id));
  TRACEDB_TRY(rows.Bind(2, quantity));
  ZoneGuess guess(loads);
  for (;;) {
    TRACEDB_ASSIGN(row, rows.Step());
    if (!row) return guess;
    guess.Add(rows.Int(0), rows.Int(1), (rows.Real(2) - low) / (high - low));
  }
}

// That of the logs of the same job in local time, where each is known to be off its traces by so
// much (log_steps), and with it the samples were taken while traces were recorded.
Result<std::optional<int64_t>> OffsetOfLogs(SqliteDb& db, const SampleSource& source) {
  TRACEDB_ASSIGN(rows, db.Prepare("SELECT min(l.moved_ns), max(l.moved_ns), max(l.moves) "
                                  "FROM log_steps l JOIN _source s ON s.source_id = l.source_id "
                                  "WHERE s.time_source = 'local time, zone unknown' "
                                  "AND (?1 IS NULL OR l.run_id = ?1)"));
  TRACEDB_TRY(source.run_id ? rows.Bind(1, *source.run_id) : rows.BindNull(1));
  TRACEDB_ASSIGN(row, rows.Step());
  const std::optional<int64_t> offset_ns = row ? rows.OptionalInt(0) : std::nullopt;
  if (!offset_ns || rows.Int(1) != *offset_ns || rows.Int(2) != 1) return std::optional<int64_t>();
  TRACEDB_ASSIGN(meets, db.Prepare("SELECT EXISTS (SELECT 1 FROM _gpu_moment m JOIN _trace t "
                                   "ON m.local_ns - ?2 BETWEEN t.start_ns AND t.end_ns "
                                   "WHERE m.source_id = ?1 AND (?3 IS NULL OR t.run_id = ?3))"));
  TRACEDB_TRY(meets.Bind(1, source.source_id));
  TRACEDB_TRY(meets.Bind(2, *offset_ns));
  TRACEDB_TRY(source.run_id ? meets.Bind(3, *source.run_id) : meets.BindNull(3));
  TRACEDB_ASSIGN(answer, meets.Step());
  return answer && meets.Int(0) != 0 ? offset_ns : std::nullopt;
}

struct Zone {
  std::optional<int64_t> offset_ns;
  std::string_view time_source = kUnknown;
};

// The least and the most; null: they are one, or the file has utilisation.
Result<std::optional<std::pair<double, double>>> PowerRange(SqliteDb& db,
                                                            const SampleSource& source) {
  TRACEDB_ASSIGN(rows, db.Prepare("SELECT min(v.value), max(v.value) FROM _gpu_sample_name n "
                                  "JOIN _gpu_sample v ON v.source_id = n.source_id "
                                  "AND v.name_id = n.name_id WHERE n.source_id = ?1 "
                                  "AND n.quantity = 'power' AND NOT EXISTS (SELECT 1 "
                                  "FROM _gpu_sample_name u WHERE u.source_id = n.source_id "
                                  "AND u.quantity = 'utilization')"));
  TRACEDB_TRY(rows.Bind(1, source.source_id));
  TRACEDB_ASSIGN(row, rows.Step());
  using Range = std::optional<std::pair<double, double>>;
  if (!row || rows.Type(0) == SqlType::kNull || rows.Real(1) <= rows.Real(0)) return Range();
  return Range(std::pair(rows.Real(0), rows.Real(1)));
}

// By utilisation, in a file without it by power, from its least to its most; where that cannot
// tell, by logs.
Result<Zone> GuessZone(SqliteDb& db, const SampleSource& source,
                       const std::optional<std::string>& host) {
  TRACEDB_ASSIGN(loads, LoadsFor(db, source, host));
  if (loads.empty()) return Zone{};
  TRACEDB_ASSIGN(power, PowerRange(db, source));
  TRACEDB_ASSIGN(guess, power ? GuessBy(db, source, loads, "power", power->first, power->second)
                              : GuessBy(db, source, loads, "utilization", 0, 100));
  if (const auto by_load = guess.OffsetNs()) return Zone{by_load, kByLoad};
  TRACEDB_ASSIGN(by_log, OffsetOfLogs(db, source));
  if (!by_log || guess.SpeaksAgainst(*by_log)) return Zone{};
  return Zone{by_log, kByLog};
}

Status PlaceSource(SqliteDb& db, const SampleSource& source) {
  TRACEDB_ASSIGN(host, HostOf(db, source));
  std::optional<int64_t> offset_ns = source.offset_ns;
  std::string time_source = source.time_source;
  if (time_source == kByLoad || time_source == kByLog || time_source == kUnknown) {
    TRACEDB_ASSIGN(zone, GuessZone(db, source, host));
    offset_ns = zone.offset_ns;
    time_source = zone.time_source;
  }
  if (host == source.host && offset_ns == source.offset_ns && time_source == source.time_source) {
    return Done{};
  }
  TRACEDB_ASSIGN(update, db.Prepare("UPDATE _gpu_sample_zone SET host = ?2, utc_offset_ns = ?3, "
                                    "time_source = ?4 WHERE source_id = ?1"));
  TRACEDB_TRY(update.Bind(1, source.source_id));
  TRACEDB_TRY(host ? update.Bind(2, std::string_view(*host)) : update.BindNull(2));
  TRACEDB_TRY(offset_ns ? update.Bind(3, *offset_ns) : update.BindNull(3));
  TRACEDB_TRY(update.Bind(4, std::string_view(time_source)));
  return update.Run();
}

Result<std::vector<RunTime>> ReadRunTimes(SqliteDb& db, const char* sql) {
  TRACEDB_ASSIGN(rows, db.Prepare(sql));
  std::vector<RunTime> runs;
  for (;;) {
    TRACEDB_ASSIGN(row, rows.Step());
    if (!row) return runs;
    runs.push_back({rows.Int(0), rows.Int(1), rows.Int(2)});
  }
}

// The stretches in which one of `runs` is alone.
std::vector<RunTime> AloneOf(const std::vector<RunTime>& runs) {
  std::map<int64_t, std::vector<std::pair<int64_t, int>>> borders;  // what begins and ends when
  for (const RunTime& run : runs) {
    borders[run.start_ns].emplace_back(run.run_id, 1);
    borders[run.end_ns + 1].emplace_back(run.run_id, -1);
  }
  std::vector<RunTime> alone;
  std::map<int64_t, int> open;
  int64_t since_ns = 0;
  for (const auto& [at_ns, changes] : borders) {
    if (open.size() == 1) alone.push_back({open.begin()->first, since_ns, at_ns - 1});
    for (const auto& [run_id, change] : changes) {
      if ((open[run_id] += change) == 0) open.erase(run_id);
    }
    since_ns = at_ns;
  }
  return alone;
}

Status PlaceRuns(SqliteDb& db) {
  TRACEDB_ASSIGN(runs, ReadRunTimes(db,
                                    "SELECT run_id, min(start_ns), max(end_ns) FROM ("
                                    "SELECT run_id, start_ns, end_ns FROM _trace UNION ALL "
                                    "SELECT run_id, start_ns, end_ns FROM _source "
                                    "WHERE source_id NOT IN (SELECT source_id FROM "
                                    "_gpu_sample_zone)) WHERE run_id IS NOT NULL "
                                    "AND start_ns IS NOT NULL AND end_ns IS NOT NULL "
                                    "GROUP BY run_id"));
  TRACEDB_ASSIGN(stored, ReadRunTimes(db,
                                      "SELECT run_id, start_ns, end_ns FROM _gpu_sample_run "
                                      "ORDER BY start_ns"));
  const std::vector<RunTime> alone = AloneOf(runs);
  if (alone == stored) return Done{};
  TRACEDB_TRY(db.Execute("DELETE FROM _gpu_sample_run"));
  TRACEDB_ASSIGN(insert, db.Prepare("INSERT INTO _gpu_sample_run (run_id, start_ns, end_ns) "
                                    "VALUES (?1, ?2, ?3)"));
  for (const RunTime& run : alone) {
    TRACEDB_TRY(insert.Bind(1, run.run_id));
    TRACEDB_TRY(insert.Bind(2, run.start_ns));
    TRACEDB_TRY(insert.Bind(3, run.end_ns));
    TRACEDB_TRY(insert.Run());
  }
  return Done{};
}

}  // namespace

Status PlaceSamples(SqliteDb& db) {
  TRACEDB_ASSIGN(sources, ReadSources(db));
  if (sources.empty()) return Done{};
  TRACEDB_TRY(db.Execute("SAVEPOINT place_samples"));
  const auto place = [&]() -> Status {
    for (const SampleSource& source : sources) TRACEDB_TRY(PlaceSource(db, source));
    return PlaceRuns(db);
  };
  Status placed = place();
  if (!placed.ok()) {
    // Fails where memory or the disk ends, as SQLite has undone all of the transaction then.
    (void)db.Execute("ROLLBACK TO place_samples; RELEASE place_samples");
    return placed;
  }
  return db.Execute("RELEASE place_samples");
}

}  // namespace tracedb
