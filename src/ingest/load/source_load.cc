#include "tracedb/ingest/load/source_load.h"

#include <array>
#include <set>
#include <system_error>
#include <vector>

#include "ingest/build/empty_rows.h"
#include "ingest/load/database_landing.h"
#include "ingest/load/source_merge.h"
#include "ingest/load/stopwatch.h"
#include "tracedb/ingest/read/content_hash.h"
#include "tracedb/ranks/runs/decide_runs.h"
#include "tracedb/schema/empty_database.h"
#include "tracedb/sources/source_readers.h"

namespace tracedb {

namespace fs = std::filesystem;

namespace {

Status StrictError(const SourceSummary& summary) {
  for (const auto& [kind, entry] : summary.issues.entries()) {
    return Error{ErrorKind::kInput,
                 summary.path + ": byte " + std::to_string(entry.first_offset) + ": " + kind +
                     ": " + entry.first_excerpt,
                 "nothing was kept, because of --strict; without it the rest of the file loads"};
  }
  return Done{};
}

// One source's way into the database.
class SourceReading {
 public:
  SourceReading(const InputFile& input, const SourceReader& reader, const LoadOptions& options,
                DatabaseLanding& landing)
      : input_(input), reader_(reader), options_(options), landing_(landing) {
    summary_.path = input.path.string();
    summary_.kind = reader.kind();
    summary_.source_id = landing.place().source_id;
  }

  Result<SourceSummary> Load() {
    TRACEDB_ASSIGN(of_name, landing_.FindSourceOf(FolderOfInput(input_.path),
                                                  input_.path.filename().string()));
    std::set<int64_t> outdated;
    if (of_name != 0) outdated.insert(of_name);
    TRACEDB_ASSIGN(rows_file, landing_.MakeRows());
    TRACEDB_TRY(WriteEmptyDatabase(rows_file, EmptyDatabase::Schema::kTables));
    TRACEDB_TRY(Read(rows_file));
    if (!landing_.place().exists) {  // it becomes the database
      TRACEDB_TRY(ShowSchema(rows_file, EmptyDatabase::Schema::kWhole));
    }
    if (options_.whole_only && !summary_.complete) {
      summary_.unfinished = true;
      return std::move(summary_);
    }
    TRACEDB_ASSIGN(same, landing_.FindSameSource(text_hash_, rank_, only_in_));
    if (same.has_value() && !options_.replace) {
      summary_.skipped = true;
      summary_.source_id = *same;
      return std::move(summary_);
    }
    if (same.has_value()) outdated.insert(*same);
    if (options_.strict) TRACEDB_TRY(StrictError(summary_));
    summary_.replaced = !outdated.empty();
    TRACEDB_TRY(landing_.LandSource(summary_.source_id, outdated));
    return std::move(summary_);
  }

 private:
  Status Read(const fs::path& rows_file) {
    TRACEDB_ASSIGN(text, SourceText::Open(input_.path, options_.block_bytes, options_.stop,
                                          options_.limits.source_ahead_bytes));
    if (options_.on_progress) {
      text.OnProgress([&] { options_.on_progress({text.packed_bytes(), text.text_bytes(), 0}); });
    }
    SourceOptions source = options_.source;
    source.memory_bytes = options_.limits.source_bytes_max;
    SourceRows rows{.source_id = summary_.source_id,
                    .options = source,
                    .path = FolderOfInput(input_.path) + "/" + input_.path.filename().string()};
    TRACEDB_ASSIGN(db, ReadRows(rows_file, text, rows));
    TRACEDB_TRY(ReadToItsEnd(text));
    if (text.damage().has_value()) {
      rows.issues.Add("damaged_compression", text.text_bytes(), text.damage()->what);
      summary_.complete = !text.damage()->loses_text;
    }
    summary_.rows = rows.rows;
    summary_.file_bytes = text.packed_bytes();
    summary_.text_bytes = text.text_bytes();
    text_hash_ = text.text_hash();
    rank_ = rows.rank;
    if (reader_.MayBeOfSeveralJobs() && !rows.start_ns) only_in_ = FolderOfInput(input_.path);
    TRACEDB_TRY(Store(db, rows, text.file_hash()));
    summary_.issues = std::move(rows.issues);
    return db.Execute("COMMIT");
  }

  // Pages are written while no connection has the file open.
  Result<SqliteDb> ReadRows(const fs::path& rows_file, SourceText& text, SourceRows& rows) const {
    if (reader_.PagedTables().empty()) {
      TRACEDB_ASSIGN(db, OpenRows(rows_file, options_));
      rows.db = &db;
      TRACEDB_TRY(Named(reader_.Read(text, rows)));
      rows.db = nullptr;
      return db;
    }
    const auto tables = reader_.PagedTables();
    TRACEDB_ASSIGN(
        pages, RowStore::Open(rows_file, EmptyDatabase::RootPages({tables.begin(), tables.end()})));
    rows.pages = &pages;
    TRACEDB_TRY(Named(reader_.Read(text, rows)));
    rows.pages = nullptr;
    TRACEDB_TRY(pages.Finish());
    return OpenRows(rows_file, options_);
  }

  // A reader does not know where its file lies.
  Status Named(Status read) const {
    if (read.ok() || read.error().kind != ErrorKind::kInput) return read;
    Error error = std::move(read).error();
    if (!error.what.starts_with(summary_.path)) error.what = summary_.path + ": " + error.what;
    return error;
  }

  // A reader may have seen enough before: the hash is of all of it.
  static Status ReadToItsEnd(SourceText& text) {
    std::vector<char> rest(size_t{256} << 10);
    for (;;) {
      TRACEDB_ASSIGN(got, text.Read(rest));
      if (got == 0) return Done{};
    }
  }

  Status Store(SqliteDb& db, const SourceRows& rows, const std::string& file_hash) {
    TRACEDB_ASSIGN(insert,
                   db.Prepare("INSERT INTO _source VALUES (?1, ?2, ?3, ?4, ?5, ?6, NULL, ?7, ?8, "
                              "?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17, "
                              "strftime('%Y-%m-%dT%H:%M:%SZ', 'now'))"));
    const std::string folder = FolderOfInput(input_.path);
    const std::optional<std::string> input_folder =
        input_.is_searched() ? std::optional(AbsoluteFolder(input_.input_folder)) : std::nullopt;
    int at = 0;
    TRACEDB_TRY(insert.Bind(++at, summary_.source_id));
    TRACEDB_TRY(insert.Bind(++at, std::string_view(summary_.kind)));
    TRACEDB_TRY(insert.Bind(++at, std::string_view(summary_.path)));
    TRACEDB_TRY(insert.Bind(++at, std::string_view(folder)));
    TRACEDB_TRY(insert.BindOptional(++at, input_folder));
    TRACEDB_TRY(insert.BindOptional(++at, options_.run));
    TRACEDB_TRY(insert.BindOptional(++at, rows.host));
    TRACEDB_TRY(insert.BindOptional(++at, rows.rank));
    TRACEDB_TRY(insert.Bind(++at, static_cast<int64_t>(summary_.file_bytes)));
    TRACEDB_TRY(insert.Bind(++at, static_cast<int64_t>(summary_.text_bytes)));
    TRACEDB_TRY(insert.Bind(++at, static_cast<int64_t>(summary_.rows)));
    TRACEDB_TRY(insert.Bind(++at, int64_t{summary_.complete ? 1 : 0}));
    TRACEDB_TRY(insert.BindOptional(++at, rows.start_ns));
    TRACEDB_TRY(insert.BindOptional(++at, rows.end_ns));
    TRACEDB_TRY(insert.BindTextOrNull(++at, rows.time_source));
    TRACEDB_TRY(insert.Bind(++at, std::string_view(text_hash_)));
    TRACEDB_TRY(insert.BindTextOrNull(++at, file_hash));
    TRACEDB_TRY(insert.Run());
    TRACEDB_ASSIGN(issue, db.Prepare("INSERT INTO _source_issue VALUES (?1, ?2, ?3, ?4, ?5)"));
    for (const auto& [kind, entry] : rows.issues.entries()) {
      TRACEDB_TRY(issue.Bind(1, summary_.source_id));
      TRACEDB_TRY(issue.Bind(2, std::string_view(kind)));
      TRACEDB_TRY(issue.Bind(3, static_cast<int64_t>(entry.count)));
      TRACEDB_TRY(issue.Bind(4, static_cast<int64_t>(entry.first_offset)));
      TRACEDB_TRY(issue.Bind(5, std::string_view(entry.first_excerpt)));
      TRACEDB_TRY(issue.Run());
    }
    TRACEDB_ASSIGN(moves, DecideRuns(db));  // it is of a run of its own here
    (void)moves;
    return Done{};
  }

  const InputFile& input_;
  const SourceReader& reader_;
  const LoadOptions& options_;
  DatabaseLanding& landing_;
  SourceSummary summary_;
  std::string text_hash_;
  std::optional<int64_t> rank_;
  std::optional<std::string> only_in_;  // the folder in which a file of this text is the same
};

// What to say of a file that is in the database as it is; nothing for others. Without reading it
// where no source is of its size.
Result<std::optional<int64_t>> FindUnchangedSource(const fs::path& path, const SourceReader& reader,
                                                   const std::atomic<bool>* stop,
                                                   DatabaseLanding& landing) {
  std::error_code error;
  const uint64_t bytes = fs::file_size(path, error);
  TRACEDB_ASSIGN(likely, landing.AnySourceOfSize(error ? 0 : bytes));
  if (!likely) return std::optional<int64_t>();
  TRACEDB_ASSIGN(hash, HashFile(path, stop));
  TRACEDB_ASSIGN(same, landing.FindSameSourceFile(hash, bytes));
  if (!reader.ReadsRankInPath() && !reader.MayBeOfSeveralJobs()) return same;
  if (!same.has_value()) return same;
  // Under another name it may be of another rank or job, which is known once it has been read.
  TRACEDB_ASSIGN(of_name, landing.FindSourceOf(FolderOfInput(path), path.filename().string()));
  TRACEDB_ASSIGN(is_same, landing.IsSourceFile(of_name, hash, bytes));
  return is_same ? std::optional(of_name) : std::nullopt;
}

Result<SourceSummary> LoadOrSkip(const InputFile& input, const SourceReader& reader,
                                 const fs::path& database, const LoadOptions& options) {
  Stopwatch watch;
  KeptConnection kept;
  TRACEDB_ASSIGN(landing, DatabaseLanding::Begin(database, options, kept));
  if (!options.replace) {
    TRACEDB_ASSIGN(unchanged, FindUnchangedSource(input.path, reader, options.stop, landing));
    if (unchanged.has_value()) {
      SourceSummary summary;
      summary.path = input.path.string();
      summary.kind = reader.kind();
      summary.skipped = true;
      summary.source_id = *unchanged;
      return summary;
    }
  }
  SourceReading reading(input, reader, options, landing);
  TRACEDB_ASSIGN(summary, reading.Load());
  summary.seconds = watch.Lap();
  return summary;
}

}  // namespace

Result<const SourceReader*> TellSourceFile(const fs::path& path) {
  constexpr const SourceReader* kNone = nullptr;
  std::error_code error;
  if (!fs::is_regular_file(path, error) || fs::file_size(path, error) == 0) return kNone;
  TRACEDB_ASSIGN(bytes, OpenByteSource(path, 0));
  std::vector<char> text(SourceHead::kBytesMax);
  size_t filled = 0;
  SourceHead head;
  while (filled < text.size() && !head.is_whole) {
    TRACEDB_ASSIGN(got, bytes->Read(std::span(text).subspan(filled)));
    filled += got;
    head.is_whole = got == 0;
  }
  head.text = {text.data(), filled};
  const std::string name = path.filename().string();
  head.file_name = name;
  return TellSource(head);
}

Result<SourceSummary> LoadSource(const InputFile& input, const SourceReader& reader,
                                 const fs::path& database, const LoadOptions& options) {
  TRACEDB_ASSIGN(summary, LoadOrSkip(input, reader, database, options));
  // A file that is there already is not read again for its run to be named.
  if (summary.skipped && options.run.has_value()) {
    TRACEDB_TRY(NameSourceRun(database, summary.source_id, *options.run, options));
  }
  return summary;
}

}  // namespace tracedb
