#include "ingest/load/trace_reading.h"

#include <algorithm>
#include <system_error>

#include "ingest/build/empty_rows.h"
#include "ingest/load/row_numbers.h"
#include "tracedb/derive/derive_impossible.h"
#include "tracedb/derive/derive_names.h"
#include "tracedb/derive/derive_trace.h"
#include "tracedb/ingest/read/content_hash.h"
#include "tracedb/ingest/read/input_files.h"
#include "tracedb/memory/freed_memory.h"
#include "tracedb/ranks/runs/decide_runs.h"

namespace tracedb {

namespace fs = std::filesystem;

namespace {

bool IsRegularFile(const fs::path& input) {
  std::error_code error;
  return input != "-" && fs::is_regular_file(input, error);
}

fs::path FolderOf(const fs::path& file) {
  return file.has_parent_path() ? file.parent_path() : fs::path(".");
}

Status StrictError(const std::string& input, const EventIssues& issues) {
  for (size_t i = 0; i < kIssueKinds; ++i) {
    const auto kind = static_cast<IssueKind>(i);
    const EventIssues::Entry& entry = issues.entry(kind);
    if (entry.count == 0) continue;
    return Error{ErrorKind::kInput,
                 input + ": byte " + std::to_string(entry.first_offset) + ": " +
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

Error NoEvents(const InputFile& input, const EventIssues& issues) {
  const EventIssues::Entry& other = issues.entry(IssueKind::kNotAnEvent);
  std::string what = (input.path == "-" ? "standard input" : input.name()) + ": byte " +
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

}  // namespace

Status TraceReading::Read(const fs::path& rows_file, const LandingPlace& place,
                          const FirstIds& first) {
  Stopwatch watch;
  first_ = first;
  next_path_ = first.path;
  rules_.emplace(place.rules);
  parallelism_rules_ = place.parallelism_rules;
  const bool on_threads = options_.limits.write_bytes_max > 0;
  TRACEDB_ASSIGN(writer, TableWriter::Create(rows_file, first_.trace_id, on_threads));
  gathered_.emplace(options_.limits, FolderOf(rows_file));
  RowLots rows(*gathered_, *writer, on_threads);
  builder_.emplace(rows, options_.limits, *rules_, first_, options_.keep_args);
  TRACEDB_ASSIGN(read, RunPipeline(input_, options_, *builder_));
  read_ = std::move(read);
  TRACEDB_TRY(builder_->Finish());
  TRACEDB_TRY(rows.Finish());
  TRACEDB_TRY(gathered_->Finish());
  TRACEDB_TRY(writer->FinishPages());
  built_ = builder_->summary();
  issues_ = builder_->issues();
  issues_.Merge(read_.issues);
  if (read_.array_form && !HasEvents(built_, issues_)) return NoEvents(input_, issues_);
  header_ = ReadTraceHeader(read_.header, issues_);
  if (!BaseFits(header_.base_time_ns.value_or(0), built_)) {
    issues_.Add(IssueKind::kBadTime, 0, "baseTimeNanoseconds + ts does not fit 64 bits");
    header_.base_time_ns.reset();
  }
  read_seconds_ = watch.Lap();
  return Done{};
}

Status TraceReading::DeriveAhead(const fs::path& rows_file) {
  if (!WillLand()) return Done{};
  rank_ = TellRank();
  return rank_.source == kRankChosen ? Status(Done{}) : Derive(rows_file, false);
}

bool TraceReading::WillLand() const {
  return !(options_.strict && issues_.Any()) && !(options_.whole_only && !read_.complete);
}

FirstIds TraceReading::NextIds() const {
  if (!WillLand()) return first_;
  return {first_.trace_id + 1, built_.last_row + 1, built_.last_text + 1, next_path_};
}

Status TraceReading::Renumber(const fs::path& rows_file, const fs::path& renumbered,
                              const FirstIds& first) {
  TRACEDB_TRY(RenumberRows(rows_file, first_, renumbered, first));
  built_.last_row += first.row - first_.row;
  built_.last_text += first.text - first_.text;
  next_path_ += first.path - first_.path;
  first_ = first;
  return Done{};
}

// The name of a file with several traces is not that of one rank.
RankChoice TraceReading::TellRank() const {
  RankChoice choice =
      ChooseRank(header_, input_.part.empty() ? input_.path : fs::path(), options_.rank);
  if (!input_.rank_is_guess) return choice;
  if (options_.rank.has_value()) return {*options_.rank, "option"};
  choice.source = kRankOfCommunicator;
  return choice;
}

// The next rank of the folder. Where GPUs are counted those of another time are other captures of
// the same ranks.
Status TraceReading::ChooseFreeRank(DatabaseLanding& landing) {
  const int64_t base = header_.base_time_ns.value_or(0);
  std::optional<Interval> at;
  if (input_.by_device) {
    at = {base + built_.first_start_ns.value_or(0), base + built_.last_end_ns.value_or(0)};
    rank_.source = kRankByDevice;
  }
  TRACEDB_ASSIGN(taken, landing.RanksOf(FolderOfInput(input_.path), at, input_.name()));
  while (taken.contains(rank_.rank)) ++rank_.rank;
  return Done{};
}

Result<LoadSummary> TraceReading::Land(DatabaseLanding& landing) {
  Stopwatch watch;
  const LandingPlace& place = landing.place();
  LoadSummary summary;
  summary.read_seconds = read_seconds_;
  if (options_.strict && issues_.Any()) {
    TRACEDB_TRY(StrictError(input_.name(), issues_));
  }
  summary.path = input_.name();
  if (options_.whole_only && !read_.complete) {
    summary.unfinished = true;
    return summary;
  }
  if (place.exists && !options_.replace) {
    TRACEDB_ASSIGN(same, landing.FindSameText(read_.text_hash));
    if (same.has_value()) {
      summary.skipped = true;
      summary.trace_id = *same;
      return summary;
    }
  }
  if (!is_derived_) {
    rank_ = TellRank();
    if (rank_.source == kRankChosen) TRACEDB_TRY(ChooseFreeRank(landing));
    TRACEDB_TRY(Derive(landing.rows(), !place.exists));
  }
  watch.Lap();
  if (first_ != place.first) {  // others came, or did not come, before it
    const RowsFile rows = landing.TakeRows();
    TRACEDB_ASSIGN(renumbered, landing.MakeRows());
    TRACEDB_TRY(Renumber(rows.path(), renumbered, place.first));
  }
  if (!place.exists && !only_run_.has_value()) {  // derived before it was known to be the first
    TRACEDB_ASSIGN(db, OpenRows(landing.rows(), options_));
    TRACEDB_TRY(LookAtRun(db));
  }
  if (!place.exists) TRACEDB_TRY(ShowSchema(landing.rows(), EmptyDatabase::Schema::kWhole));
  LoadSummary landed = Summary();  // nothing may go wrong any more once it has landed
  if (!place.exists) landed.only_run = only_run_;
  TRACEDB_TRY(landing.Land(first_.trace_id, input_.name(), read_.text_hash));
  landed.land_seconds = watch.Lap();
  return landed;
}

bool TraceReading::IsReadyFor(const FirstIds& first) const {
  return is_derived_ && WillLand() && !options_.replace && first_ == first;
}

LoadSummary TraceReading::Summary() const {
  LoadSummary summary;
  summary.path = input_.name();
  summary.trace_id = first_.trace_id;
  summary.rank = rank_.rank;
  summary.rank_source = rank_.source;
  summary.file_bytes = read_.file_bytes;
  summary.text_bytes = read_.text_bytes;
  summary.events = built_.events;
  summary.slices = built_.slices;
  summary.gpu_activities = built_.gpu_activities;
  summary.complete = read_.complete;
  summary.read_seconds = read_seconds_;
  summary.derive_seconds = derive_seconds_;
  summary.issues = issues_;
  summary.launches_graphs = launches_graphs_;
  return summary;
}

Status TraceReading::StoreTrace(SqliteDb& db) {
  TRACEDB_ASSIGN(
      insert,
      db.Prepare(
          "INSERT INTO _trace VALUES (?1, ?2, ?3, ?25, ?26, ?27, ?1, ?1, ?16, 0, ?4, ?5, ?6, "
          "?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, "
          "?16, ?17, ?18, ?19, ?20, ?21, ?22, ?23, "
          "strftime('%Y-%m-%dT%H:%M:%SZ', 'now'), ?24)"));
  const int64_t base = header_.base_time_ns.value_or(0);
  const auto absolute = [base](const std::optional<int64_t>& ns) {
    return ns.has_value() ? std::optional(*ns + base) : std::nullopt;
  };
  const std::string name = input_.name();
  int at = 0;
  TRACEDB_TRY(insert.Bind(++at, first_.trace_id));
  TRACEDB_TRY(insert.Bind(++at, std::string_view(name)));
  TRACEDB_TRY(insert.Bind(++at, rank_.rank));
  TRACEDB_TRY(insert.Bind(++at, rank_.source));
  TRACEDB_TRY(insert.BindOptional(++at, header_.world_size));
  TRACEDB_TRY(insert.BindOptional(++at, header_.host));
  TRACEDB_TRY(insert.BindOptional(++at, header_.gpu_name));
  TRACEDB_TRY(insert.Bind(++at, static_cast<int64_t>(read_.file_bytes)));
  TRACEDB_TRY(insert.Bind(++at, static_cast<int64_t>(read_.text_bytes)));
  TRACEDB_TRY(insert.Bind(++at, static_cast<int64_t>(built_.events)));
  TRACEDB_TRY(insert.Bind(++at, static_cast<int64_t>(built_.slices)));
  TRACEDB_TRY(insert.Bind(++at, static_cast<int64_t>(built_.gpu_activities)));
  TRACEDB_TRY(insert.Bind(++at, static_cast<int64_t>(issues_.Lost())));
  TRACEDB_TRY(insert.Bind(++at, int64_t{read_.complete ? 1 : 0}));
  TRACEDB_TRY(insert.BindOptional(++at, header_.base_time_ns));
  TRACEDB_TRY(insert.BindOptional(++at, absolute(built_.first_start_ns)));
  TRACEDB_TRY(insert.BindOptional(++at, absolute(built_.last_end_ns)));
  TRACEDB_TRY(insert.Bind(++at, first_.row));
  TRACEDB_TRY(insert.Bind(++at, built_.last_row));
  TRACEDB_TRY(insert.Bind(++at, first_.text));
  TRACEDB_TRY(insert.Bind(++at, built_.last_text));
  TRACEDB_TRY(insert.Bind(++at, std::string_view(read_.text_hash)));
  TRACEDB_TRY(insert.BindOptional(++at, read_.file_hash.empty() || input_.path == "-"
                                            ? std::nullopt
                                            : std::optional(read_.file_hash + input_.read_mark)));
  TRACEDB_TRY(insert.BindOptional(++at, header_.json));
  TRACEDB_TRY(insert.Bind(++at, std::string_view(FolderOfInput(input_.path))));
  TRACEDB_TRY(insert.BindOptional(++at, input_.is_searched()
                                            ? std::optional(AbsoluteFolder(input_.input_folder))
                                            : std::nullopt));
  TRACEDB_TRY(insert.BindOptional(++at, options_.run));
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

// What the trace says of itself, and what the bulk of the derived rows needs to know of that.
Result<ArgsParallelism> TraceReading::StoreFacts(SqliteDb& db, int64_t base,
                                                 const ParallelismRules& rules) {
  TRACEDB_TRY(db.Execute("UPDATE _track SET rank = " + std::to_string(rank_.rank) +
                         ", base_ns = " + std::to_string(base)));
  TRACEDB_TRY(StoreTrace(db));
  TRACEDB_TRY(StoreIssues(db));
  TRACEDB_TRY(DeriveImpossibleTimes(db, built_.times));
  TRACEDB_TRY(DeriveNames(db, first_.trace_id, builder_->namings()));
  TRACEDB_TRY(DeriveGroups(db, first_.trace_id, header_.groups, rules));
  TRACEDB_ASSIGN(parallelism, ArgsParallelism::Read(db, FolderOf(db.path()),
                                                    options_.limits.args_group_bytes_max));
  TRACEDB_TRY(db.Execute("COMMIT; PRAGMA shrink_memory"));
  return parallelism;
}

Status TraceReading::LookAtRun(SqliteDb& db) {
  {
    TRACEDB_ASSIGN(rows, db.Prepare("SELECT run FROM _run"));
    TRACEDB_ASSIGN(any, rows.Step());
    only_run_ = any ? rows.Text(0) : "";
  }
  TRACEDB_ASSIGN(graphs, db.Integer("SELECT EXISTS (SELECT 1 FROM _graph_launch)"));
  launches_graphs_ = graphs != 0;
  return Done{};
}

Status TraceReading::Derive(const fs::path& rows_file, bool is_first) {
  Stopwatch watch;
  TRACEDB_TRY(StoreDerived(rows_file, is_first));
  builder_.reset();  // and all that was gathered: its turn may be long in coming
  gathered_.reset();
  GiveFreedMemoryBack(options_.limits.memory_bytes);
  is_derived_ = true;
  derive_seconds_ = watch.Lap();
  return Done{};
}

Status TraceReading::StoreDerived(const fs::path& rows_file, bool is_first) {
  const int64_t base = header_.base_time_ns.value_or(0) + built_.origin_ns;
  // What reading took has been given back to the allocator; the bound is for the process.
  GiveFreedMemoryBack(options_.limits.memory_bytes);
  TRACEDB_ASSIGN(db, OpenRows(rows_file, options_));
  TRACEDB_ASSIGN(parallelism, StoreFacts(db, base, parallelism_rules_));
  const GatheredTrace trace{first_.trace_id,
                            rank_.rank,
                            base,
                            header_.base_time_ns.value_or(0),
                            gathered_->gpu_activities(),
                            gathered_->long_slices(),
                            gathered_->host_slices(),
                            parallelism,
                            first_.path,
                            first_.row,
                            built_.times};
  TRACEDB_ASSIGN(use, DeriveTrace(db, trace, options_.limits));
  GiveFreedMemoryBack(options_.limits.memory_bytes);
  TRACEDB_TRY(db.Execute("BEGIN"));
  TRACEDB_TRY(use.Store(db, trace));
  TRACEDB_ASSIGN(last_path, db.Integer("SELECT coalesce(max(id), 0) FROM _call_path"));
  next_path_ = std::max(first_.path, last_path + 1);
  TRACEDB_ASSIGN(moves, DecideRuns(db));  // fills its tables: it is a run of its own here
  (void)moves;
  if (is_first) TRACEDB_TRY(LookAtRun(db));
  return db.Execute("COMMIT");
}

Result<std::map<std::string, int64_t>> TracesOfSize(const InputFile& input,
                                                    DatabaseLanding& landing) {
  std::error_code error;
  if (!landing.place().exists || !IsRegularFile(input.path))
    return std::map<std::string, int64_t>();
  return landing.TracesOfSize(fs::file_size(input.path, error));
}

Result<std::optional<LoadSummary>> FindUnchangedFile(
    const InputFile& input, const std::atomic<bool>* stop,
    const std::map<std::string, int64_t>& traces_of_size) {
  if (traces_of_size.empty()) return std::optional<LoadSummary>();
  TRACEDB_ASSIGN(hash, HashFile(input.path, stop));
  const auto found = traces_of_size.find(hash + input.read_mark);
  if (found == traces_of_size.end()) return std::optional<LoadSummary>();
  LoadSummary summary;
  summary.path = input.name();
  summary.skipped = true;
  summary.trace_id = found->second;
  return std::optional(std::move(summary));
}

}  // namespace tracedb
