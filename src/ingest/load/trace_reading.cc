#include "ingest/load/trace_reading.h"

#include <malloc.h>

#include <system_error>

#include "ingest/read/content_hash.h"
#include "tracedb/derive/collectives/derive_collectives.h"
#include "tracedb/derive/derive_impossible.h"
#include "tracedb/derive/derive_names.h"
#include "tracedb/derive/derive_trace.h"
#include "tracedb/ranks/runs/decide_runs.h"
#include "tracedb/schema/schema_sql.h"

namespace tracedb {

namespace fs = std::filesystem;

namespace {

bool IsRegularFile(const fs::path& input) {
  std::error_code error;
  return input != "-" && fs::is_regular_file(input, error);
}

// Absolute, and the same however it is written; links stay as they are. Where there is no working
// folder any more, as written.
std::string AbsoluteFolder(const fs::path& folder) {
  std::error_code error;
  const fs::path absolute = fs::absolute(folder, error);
  std::string text = (error ? folder : absolute).lexically_normal().string();
  while (text.size() > 1 && text.ends_with('/')) text.pop_back();
  return text;
}

// Of standard input: the working folder.
std::string FolderOfInput(const fs::path& input) {
  return AbsoluteFolder(input.has_parent_path() ? input.parent_path() : fs::path("."));
}

fs::path FolderOf(const fs::path& file) {
  return file.has_parent_path() ? file.parent_path() : fs::path(".");
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

// Whether a bare array has anything of a trace: an event, or what would be one but for its time or
// its JSON. Any list may be such an array, so no key tells.
bool HasEvents(const BuildSummary& built, const EventIssues& issues) {
  if (built.events > 0) return true;
  for (const IssueKind timeless : {IssueKind::kMissingTime, IssueKind::kBadTime}) {
    if (issues.entry(timeless).count > 0) return true;
  }
  for (const IssueKind broken : {IssueKind::kMalformedEvent, IssueKind::kEventTooLarge,
                                 IssueKind::kEventTooDeep, IssueKind::kTruncated}) {
    if (issues.entry(broken).first_excerpt.find("\"ph\"") != std::string::npos) return true;
  }
  return false;
}

Error NoEvents(const fs::path& input, const EventIssues& issues) {
  const EventIssues::Entry& other = issues.entry(IssueKind::kNotAnEvent);
  std::string what = (input == "-" ? "standard input" : input.string()) + ": byte " +
                     std::to_string(other.first_offset) + ": this is no trace: ";
  what += other.count == 0
              ? "an array without any event"
              : "an array without any event; the first element is " + other.first_excerpt;
  return Error{ErrorKind::kNoTrace, std::move(what),
               "an event is an object with \"ph\"; name the traces themselves, or the folder "
               "they are in"};
}

// Whether absolute times are such that the difference of two of them fits 64 bits.
bool BaseFits(int64_t base_ns, const BuildSummary& built) {
  const auto is_time = [](int64_t ns) {
    return -TimeRule::kTimeMaxNs < ns && ns < TimeRule::kTimeMaxNs;
  };
  return is_time(base_ns) && is_time(base_ns + built.origin_ns) &&
         is_time(base_ns + built.first_start_ns.value_or(0)) &&
         is_time(base_ns + built.last_end_ns.value_or(0));
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

}  // namespace

Status TraceReading::Read(const fs::path& rows_file, const LandingPlace& place,
                          const FirstIds& first) {
  Stopwatch watch;
  first_ = first;
  rules_.emplace(place.rules);
  parallelism_rules_ = place.parallelism_rules;
  TRACEDB_ASSIGN(writer, TableWriter::Create(rows_file, first_.trace_id));
  builder_.emplace(*writer, options_.limits, *rules_, first_, options_.keep_args,
                   FolderOf(rows_file));
  TRACEDB_ASSIGN(read, RunPipeline(input_.path, options_, *builder_));
  read_ = std::move(read);
  TRACEDB_TRY(builder_->Finish());
  TRACEDB_TRY(writer->FinishPages());
  built_ = builder_->summary();
  issues_ = builder_->issues();
  issues_.Merge(read_.issues);
  if (read_.array_form && !HasEvents(built_, issues_)) return NoEvents(input_.path, issues_);
  header_ = ReadTraceHeader(read_.header, issues_);
  if (!BaseFits(header_.base_time_ns.value_or(0), built_)) {
    issues_.Add(IssueKind::kBadTime, 0, "baseTimeNanoseconds + ts does not fit 64 bits");
    header_.base_time_ns.reset();
  }
  read_seconds_ = watch.Lap();
  return Done{};
}

Status TraceReading::DeriveAhead(const fs::path& rows_file) {
  if (options_.strict && issues_.Any()) return Done{};  // it does not land
  rank_ = ChooseRank(header_, input_.path, options_.rank);
  return rank_.source == kRankChosen ? Status(Done{}) : Derive(rows_file);
}

Result<LoadSummary> TraceReading::Land(DatabaseLanding& landing) {
  Stopwatch watch;
  const LandingPlace& place = landing.place();
  LoadSummary summary;
  summary.read_seconds = read_seconds_;
  if (options_.strict && issues_.Any()) {
    TRACEDB_TRY(StrictError(input_.path, issues_));
  }
  summary.path = input_.path.string();
  if (place.exists && !options_.replace) {
    TRACEDB_ASSIGN(same, landing.FindSameText(read_.text_hash));
    if (same.has_value()) {
      summary.skipped = true;
      summary.trace_id = *same;
      return summary;
    }
  }
  if (!is_derived_) {
    rank_ = ChooseRank(header_, input_.path, options_.rank);
    if (rank_.source == kRankChosen) {
      TRACEDB_ASSIGN(taken, landing.RanksOf(FolderOfInput(input_.path)));
      while (taken.contains(rank_.rank)) ++rank_.rank;
    }
    TRACEDB_TRY(Derive(landing.rows()));
  }
  summary.derive_seconds = derive_seconds_;
  watch.Lap();
  if (!place.exists) {
    TRACEDB_ASSIGN(run, AddViews(landing.rows()));
    summary.only_run = std::move(run);
  }
  TRACEDB_TRY(landing.Land(first_.trace_id, input_.path.string(), read_.text_hash));
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

Status TraceReading::StoreTrace(SqliteDb& db) {
  TRACEDB_ASSIGN(
      insert,
      db.Prepare("INSERT INTO _trace VALUES (?1, ?2, ?3, ?25, ?26, ?27, ?1, ?1, ?16, ?4, ?5, ?6, "
                 "?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, "
                 "?16, ?17, ?18, ?19, ?20, ?21, ?22, ?23, "
                 "strftime('%Y-%m-%dT%H:%M:%SZ', 'now'), ?24)"));
  const int64_t base = header_.base_time_ns.value_or(0);
  const auto absolute = [base](const std::optional<int64_t>& ns) {
    return ns.has_value() ? std::optional(*ns + base) : std::nullopt;
  };
  int at = 0;
  TRACEDB_TRY(insert.Bind(++at, first_.trace_id));
  TRACEDB_TRY(insert.Bind(++at, std::string_view(input_.path.native())));
  TRACEDB_TRY(insert.Bind(++at, rank_.rank));
  TRACEDB_TRY(insert.Bind(++at, rank_.source));
  TRACEDB_TRY(BindOptional(insert, ++at, header_.world_size));
  TRACEDB_TRY(BindOptional(insert, ++at, header_.host));
  TRACEDB_TRY(BindOptional(insert, ++at, header_.gpu_name));
  TRACEDB_TRY(insert.Bind(++at, static_cast<int64_t>(read_.file_bytes)));
  TRACEDB_TRY(insert.Bind(++at, static_cast<int64_t>(read_.text_bytes)));
  TRACEDB_TRY(insert.Bind(++at, static_cast<int64_t>(built_.events)));
  TRACEDB_TRY(insert.Bind(++at, static_cast<int64_t>(built_.slices)));
  TRACEDB_TRY(insert.Bind(++at, static_cast<int64_t>(built_.gpu_activities)));
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
  TRACEDB_TRY(BindOptional(insert, ++at,
                           read_.file_hash.empty() || input_.path == "-"
                               ? std::nullopt
                               : std::optional(read_.file_hash)));
  TRACEDB_TRY(BindOptional(insert, ++at, header_.json));
  TRACEDB_TRY(insert.Bind(++at, std::string_view(FolderOfInput(input_.path))));
  TRACEDB_TRY(BindOptional(
      insert, ++at,
      input_.is_searched() ? std::optional(AbsoluteFolder(input_.input_folder)) : std::nullopt));
  TRACEDB_TRY(BindOptional(insert, ++at, options_.run));
  TRACEDB_ASSIGN(row, insert.Step());
  (void)row;
  return Done{};
}

Status TraceReading::StoreIssues(SqliteDb& db) {
  TRACEDB_ASSIGN(insert, db.Prepare("INSERT INTO _issue VALUES (?1, ?2, ?3, ?4, ?5)"));
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

// Through SQLite: the file is still ours alone, so nothing needs to be safe before it lands.
Result<SqliteDb> TraceReading::OpenRows(const fs::path& rows_file) {
  TRACEDB_ASSIGN(db, SqliteDb::Open(rows_file, SqliteMode::kReadWrite));
  if (options_.stop != nullptr) db.StopWhen(*options_.stop);
  TRACEDB_TRY(
      db.Execute("PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF;"
                 "PRAGMA locking_mode = EXCLUSIVE; PRAGMA cache_size = -" +
                 std::to_string(options_.limits.sqlite_cache_kib) + "; BEGIN"));
  return db;
}

// What the trace says of itself, and what the bulk of the derived rows needs to know of that.
Result<ArgsParallelism> TraceReading::StoreFacts(const fs::path& rows_file, int64_t base,
                                                 const ParallelismRules& rules) {
  TRACEDB_ASSIGN(db, OpenRows(rows_file));
  TRACEDB_TRY(db.Execute("UPDATE _track SET rank = " + std::to_string(rank_.rank) +
                         ", base_ns = " + std::to_string(base)));
  TRACEDB_TRY(StoreTrace(db));
  TRACEDB_TRY(StoreIssues(db));
  TRACEDB_TRY(DeriveImpossibleTimes(db, built_.times));
  TRACEDB_TRY(DeriveNames(db, first_.trace_id));
  TRACEDB_TRY(DeriveGroups(db, first_.trace_id, header_.groups, rules));
  TRACEDB_ASSIGN(parallelism, ArgsParallelism::Read(db, FolderOf(rows_file),
                                                    options_.limits.args_group_bytes_max));
  TRACEDB_TRY(db.Execute("COMMIT"));
  return parallelism;
}

namespace {

// As rows of the schema, which SQLite would make only after it has worked out each view: six times
// the work of all else for a small trace. Whoever opens the file next reads them anyway.
Status StoreViews(SqliteDb& db) {
  TRACEDB_TRY(db.Execute("PRAGMA writable_schema = ON"));
  TRACEDB_ASSIGN(insert, db.Prepare("INSERT INTO sqlite_schema (type, name, tbl_name, rootpage, "
                                    "sql) VALUES ('view', ?1, ?1, 0, ?2)"));
  for (const ViewRow& view : ViewRows()) {
    TRACEDB_TRY(insert.Bind(1, std::string_view(view.name)));
    TRACEDB_TRY(insert.Bind(2, std::string_view(view.sql)));
    TRACEDB_TRY(insert.Run());
  }
  return db.Execute("PRAGMA writable_schema = OFF");
}

}  // namespace

Result<std::string> TraceReading::AddViews(const fs::path& rows_file) {
  TRACEDB_ASSIGN(db, OpenRows(rows_file));
  std::string run;
  {
    TRACEDB_ASSIGN(rows, db.Prepare("SELECT run FROM _run"));
    TRACEDB_ASSIGN(any, rows.Step());
    if (any) run = rows.Text(0);
  }
  TRACEDB_TRY(StoreViews(db));
  TRACEDB_TRY(db.Execute("COMMIT"));
  return run;
}

Status TraceReading::Derive(const fs::path& rows_file) {
  Stopwatch watch;
  TRACEDB_TRY(StoreDerived(rows_file));
  builder_.reset();  // with all that was gathered: its turn may be long in coming
  malloc_trim(0);
  is_derived_ = true;
  derive_seconds_ = watch.Lap();
  return Done{};
}

Status TraceReading::StoreDerived(const fs::path& rows_file) {
  const int64_t base = header_.base_time_ns.value_or(0) + built_.origin_ns;
  // What reading took has been given back to the allocator; the bound is for the process.
  malloc_trim(0);
  TRACEDB_ASSIGN(parallelism, StoreFacts(rows_file, base, parallelism_rules_));
  const GatheredTrace trace{first_.trace_id,
                            base,
                            header_.base_time_ns.value_or(0),
                            builder_->gpu_activities(),
                            builder_->long_slices(),
                            builder_->host_slices(),
                            parallelism,
                            first_.path,
                            built_.times};
  TRACEDB_ASSIGN(use, DeriveTrace(rows_file, trace, options_.limits));
  malloc_trim(0);
  TRACEDB_ASSIGN(db, OpenRows(rows_file));
  TRACEDB_TRY(use.Store(db, trace));
  TRACEDB_TRY(DeriveCollectives(db, rank_.rank));
  TRACEDB_ASSIGN(moves, DecideRuns(db));  // fills its tables: it is a run of its own here
  (void)moves;
  return db.Execute("COMMIT");
}

Result<std::optional<LoadSummary>> FindUnchangedFile(const fs::path& input,
                                                     DatabaseLanding& landing) {
  std::error_code error;
  if (!landing.place().exists || !IsRegularFile(input)) return std::optional<LoadSummary>();
  const uint64_t bytes = fs::file_size(input, error);
  TRACEDB_ASSIGN(likely, landing.AnyOfSize(bytes));
  if (!likely) return std::optional<LoadSummary>();
  TRACEDB_ASSIGN(hash, HashFile(input));
  TRACEDB_ASSIGN(trace_id, landing.FindSameFile(hash, bytes));
  if (!trace_id.has_value()) return std::optional<LoadSummary>();
  LoadSummary summary;
  summary.path = input.string();
  summary.skipped = true;
  summary.trace_id = *trace_id;
  return std::optional(std::move(summary));
}

}  // namespace tracedb
