#include "tracedb/ingest/trace_load.h"

#include <malloc.h>

#include <algorithm>
#include <chrono>
#include <system_error>

#include "ingest/content_hash.h"
#include "ingest/database_landing.h"
#include "ingest/derive_tables.h"
#include "ingest/event_pipeline.h"
#include "ingest/trace_header.h"

namespace tracedb {
namespace {

namespace fs = std::filesystem;

bool IsRegularFile(const fs::path& input) {
  std::error_code error;
  return input != "-" && fs::is_regular_file(input, error);
}

fs::path FolderOf(const fs::path& file) {
  return file.has_parent_path() ? file.parent_path() : fs::path(".");
}

// The trace that this very file was read into, told without unpacking it.
Result<std::optional<int64_t>> FindUnchangedFile(const fs::path& input, DatabaseLanding& landing) {
  std::error_code error;
  if (!landing.place().exists || !IsRegularFile(input)) return std::optional<int64_t>();
  TRACEDB_ASSIGN(likely, landing.AnyOfSize(fs::file_size(input, error)));
  if (!likely) return std::optional<int64_t>();
  TRACEDB_ASSIGN(hash, HashFile(input));
  return landing.FindSameFile(hash, fs::file_size(input, error));
}

Status StrictError(const fs::path& input, const EventIssues& issues) {
  for (size_t i = 0; i < kIssueKinds; ++i) {
    const auto kind = static_cast<IssueKind>(i);
    const EventIssues::Entry& entry = issues.entry(kind);
    if (entry.count == 0) continue;
    return Error{ErrorKind::kInput,
                 input.string() + ": byte " + std::to_string(entry.first_offset) + ": " +
                     std::string(IssueName(kind)) + ": " + entry.first_excerpt,
                 "nothing was kept, because of --strict; without it the rest of the file loads"};
  }
  return Done{};
}

// One trace's way into the database.
class Load {
 public:
  Load(const fs::path& input, const LoadOptions& options, DatabaseLanding& landing)
      : input_(input), options_(options), landing_(landing) {}

  Result<LoadSummary> Run();

 private:
  Status StoreTrace(SqliteDb& db);
  Status StoreIssues(SqliteDb& db);
  Status Derive(const RecordBuilder& builder);

  const fs::path& input_;
  const LoadOptions& options_;
  DatabaseLanding& landing_;
  FirstIds first_;
  BuildSummary built_;
  ReadOutcome read_;
  TraceHeader header_;
  RankChoice rank_;
  EventIssues issues_;
};

// Seconds since it was made or asked last.
class Stopwatch {
 public:
  double Lap() {
    const auto now = std::chrono::steady_clock::now();
    const std::chrono::duration<double> lap = now - since_;
    since_ = now;
    return lap.count();
  }

 private:
  std::chrono::steady_clock::time_point since_ = std::chrono::steady_clock::now();
};

Result<LoadSummary> Load::Run() {
  Stopwatch watch;
  const LandingPlace& place = landing_.place();
  first_ = place.first;
  const RowStoreOptions rows{options_.writer, options_.limits.sqlite_cache_kib};
  TRACEDB_ASSIGN(writer, TableWriter::Create(landing_.partial(), rows));
  const KindRules rules(place.rules);
  RecordBuilder builder(*writer, options_.limits, rules, first_, options_.keep_args,
                        FolderOf(landing_.partial()));
  TRACEDB_ASSIGN(read, RunPipeline(input_, options_, builder));
  read_ = std::move(read);
  TRACEDB_TRY(builder.Finish());
  TRACEDB_TRY(writer->FinishPages());
  writer.reset();
  LoadSummary summary;
  summary.read_seconds = watch.Lap();
  built_ = builder.summary();
  issues_ = builder.issues();
  issues_.Merge(read_.issues);
  header_ = ReadTraceHeader(read_.header, issues_);
  if (options_.strict && issues_.Any()) {
    TRACEDB_TRY(StrictError(input_, issues_));
  }
  summary.path = input_.string();
  if (place.exists && !options_.replace) {
    TRACEDB_ASSIGN(same, landing_.FindSameText(read_.text_hash));
    if (same.has_value()) {
      summary.skipped = true;
      summary.trace_id = *same;
      return summary;
    }
  }
  rank_ = ChooseRank(header_, input_, options_.rank, place.ranks);
  TRACEDB_TRY(Derive(builder));
  summary.derive_seconds = watch.Lap();
  TRACEDB_TRY(landing_.Land(rank_.rank, input_.string(), read_.text_hash));
  summary.land_seconds = watch.Lap();
  summary.trace_id = first_.trace_id;
  summary.rank = rank_.rank;
  summary.rank_source = rank_.source;
  summary.file_bytes = read_.file_bytes;
  summary.text_bytes = read_.text_bytes;
  summary.events = built_.events;
  summary.slices = built_.slices;
  summary.gpu_activities = built_.gpu_activities;
  summary.complete = read_.complete;
  summary.issues = issues_;
  return summary;
}

Status BindOptional(SqliteStatement& statement, int parameter,
                    const std::optional<int64_t>& value) {
  return value.has_value() ? statement.Bind(parameter, *value) : statement.BindNull(parameter);
}

Status BindOptional(SqliteStatement& statement, int parameter,
                    const std::optional<std::string>& text) {
  return text.has_value() ? statement.Bind(parameter, std::string_view(*text))
                          : statement.BindNull(parameter);
}

Status Load::StoreTrace(SqliteDb& db) {
  TRACEDB_ASSIGN(
      insert,
      db.Prepare("INSERT INTO trace VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, "
                 "?13, ?14, ?15, "
                 "?16, ?17, ?18, ?19, ?20, ?21, ?22, strftime('%Y-%m-%dT%H:%M:%SZ', 'now'), ?23)"));
  const int64_t base = header_.base_time_ns.value_or(0);
  const auto absolute = [base](const std::optional<int64_t>& ns) -> std::optional<int64_t> {
    int64_t sum;
    if (!ns.has_value() || __builtin_add_overflow(*ns, base, &sum)) return std::nullopt;
    return sum;
  };
  int at = 0;
  TRACEDB_TRY(insert.Bind(++at, first_.trace_id));
  TRACEDB_TRY(insert.Bind(++at, std::string_view(input_.native())));
  TRACEDB_TRY(insert.Bind(++at, rank_.rank));
  TRACEDB_TRY(insert.Bind(++at, std::string_view(rank_.source)));
  TRACEDB_TRY(BindOptional(insert, ++at, header_.world_size));
  TRACEDB_TRY(BindOptional(insert, ++at, header_.host));
  TRACEDB_TRY(BindOptional(insert, ++at, header_.gpu_name));
  TRACEDB_TRY(insert.Bind(++at, static_cast<int64_t>(read_.file_bytes)));
  TRACEDB_TRY(insert.Bind(++at, static_cast<int64_t>(read_.text_bytes)));
  TRACEDB_TRY(insert.Bind(++at, static_cast<int64_t>(built_.events)));
  TRACEDB_TRY(insert.Bind(++at, static_cast<int64_t>(built_.slices)));
  TRACEDB_TRY(insert.Bind(++at, static_cast<int64_t>(issues_.Lost())));
  TRACEDB_TRY(insert.Bind(++at, int64_t{read_.complete ? 1 : 0}));
  TRACEDB_TRY(BindOptional(insert, ++at, header_.base_time_ns));
  TRACEDB_TRY(BindOptional(insert, ++at, absolute(built_.first_start_ns)));
  TRACEDB_TRY(BindOptional(insert, ++at, absolute(built_.last_end_ns)));
  TRACEDB_TRY(insert.Bind(++at, first_.row));
  TRACEDB_TRY(insert.Bind(++at, built_.last_row));
  TRACEDB_TRY(insert.Bind(++at, first_.text));
  TRACEDB_TRY(insert.Bind(++at, built_.last_text));
  TRACEDB_TRY(insert.Bind(++at, std::string_view(read_.text_hash)));
  TRACEDB_TRY(BindOptional(
      insert, ++at,
      read_.file_hash.empty() || input_ == "-" ? std::nullopt : std::optional(read_.file_hash)));
  TRACEDB_TRY(BindOptional(insert, ++at, header_.json));
  TRACEDB_ASSIGN(row, insert.Step());
  (void)row;
  return Done{};
}

Status Load::StoreIssues(SqliteDb& db) {
  TRACEDB_ASSIGN(insert, db.Prepare("INSERT INTO issue VALUES (?1, ?2, ?3, ?4, ?5)"));
  for (size_t i = 0; i < kIssueKinds; ++i) {
    const auto kind = static_cast<IssueKind>(i);
    const EventIssues::Entry& entry = issues_.entry(kind);
    if (entry.count == 0) continue;
    TRACEDB_TRY(insert.Bind(1, first_.trace_id));
    TRACEDB_TRY(insert.Bind(2, IssueName(kind)));
    TRACEDB_TRY(insert.Bind(3, static_cast<int64_t>(entry.count)));
    TRACEDB_TRY(insert.Bind(4, static_cast<int64_t>(entry.first_offset)));
    TRACEDB_TRY(insert.Bind(5, std::string_view(entry.first_excerpt)));
    TRACEDB_ASSIGN(row, insert.Step());
    (void)row;
    insert.Reset();
  }
  return Done{};
}

// Everything that is not bulk rows, through SQLite: the file is still ours alone, so nothing needs
// to be safe before it lands.
Status Load::Derive(const RecordBuilder& builder) {
  int64_t base;
  if (__builtin_add_overflow(header_.base_time_ns.value_or(0), built_.origin_ns, &base)) {
    issues_.Add(IssueKind::kBadTime, 0, "baseTimeNanoseconds + ts does not fit 64 bits");
    base = built_.origin_ns;
  }
  // What reading took has been given back to the allocator; the bound is for the process.
  malloc_trim(0);
  const FreshTrace trace{rank_.rank, base, header_.base_time_ns.value_or(0), builder.launch_calls(),
                         builder.gpu_activities(), builder.long_slices()};
  TRACEDB_ASSIGN(use, DeriveFresh(landing_.partial(), trace, options_.limits, options_.writer));
  malloc_trim(0);
  TRACEDB_ASSIGN(db, SqliteDb::Open(landing_.partial(), SqliteMode::kReadWrite));
  if (options_.stop != nullptr) db.StopWhen(*options_.stop);
  TRACEDB_TRY(
      db.Execute("PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF;"
                 "PRAGMA locking_mode = EXCLUSIVE; PRAGMA cache_size = -" +
                 std::to_string(options_.limits.sqlite_cache_kib) + "; BEGIN"));
  TRACEDB_TRY(db.Execute("UPDATE track SET rank = " + std::to_string(rank_.rank) +
                         ", base_ns = " + std::to_string(base)));
  TRACEDB_TRY(StoreTrace(db));
  TRACEDB_TRY(StoreIssues(db));
  TRACEDB_TRY(DeriveNames(db, first_.trace_id));
  TRACEDB_TRY(use.busy_done ? StoreFreshUse(db, rank_.rank, use) : DeriveBusy(db, rank_.rank));
  if (!use.indexes_done) TRACEDB_TRY(db.Execute("REINDEX"));
  TRACEDB_TRY(DeriveGroups(db, first_.trace_id, header_.groups));
  TRACEDB_TRY(DeriveCollectives(db, rank_.rank));
  return db.Execute("COMMIT");
}

}  // namespace

Result<LoadSummary> LoadTrace(const fs::path& input, const fs::path& database,
                              const LoadOptions& options) {
  Stopwatch watch;
  TRACEDB_ASSIGN(landing, DatabaseLanding::Begin(database, options));
  if (!options.replace) {
    TRACEDB_ASSIGN(unchanged, FindUnchangedFile(input, landing));
    if (unchanged.has_value()) {
      LoadSummary summary;
      summary.path = input.string();
      summary.skipped = true;
      summary.trace_id = *unchanged;
      return summary;
    }
  }
  Load load(input, options, landing);
  TRACEDB_ASSIGN(summary, load.Run());
  summary.seconds = watch.Lap();
  return summary;
}

}  // namespace tracedb
