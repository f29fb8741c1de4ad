#include "tracedb/cut/cut_command.h"

#include <fmt/format.h>
#include <unistd.h>

#include <functional>
#include <memory>
#include <utility>

#include "cut/cut_names.h"
#include "cut/cut_run.h"
#include "cut/cut_source.h"
#include "cut/cut_writer.h"
#include "cut/gzip_output.h"
#include "tracedb/query/run/gathered_notes.h"
#include "tracedb/query/run/query_database.h"
#include "tracedb/query/run/rank_database.h"
#include "tracedb/text/output_file.h"

namespace tracedb {
namespace {

Status WriteAll(CutWriter& writer, const CutOptions& options, OutputStream& output,
                CutReport& report) {
  if (EndingOf(options.output) != ".gz") return writer.Write(output, report);
  TRACEDB_ASSIGN(packed, GzipOutput::Create(output));
  TRACEDB_TRY(writer.Write(*packed, report));
  return packed->Finish();
}

Status ToOutput(CutWriter& writer, const CutOptions& options, OutputGuard guard,
                CutReport& report) {
  if (options.output == "-") {
    DescriptorOutput output(STDOUT_FILENO, "standard output");
    TRACEDB_TRY(WriteAll(writer, options, output, report));
    return output.Flush();
  }
  TRACEDB_ASSIGN(file, FileOutput::Create(options.output, std::move(guard)));
  TRACEDB_TRY(WriteAll(writer, options, *file, report));
  return file->Commit();
}

Status CheckOutput(const CutOptions& options) {
  if (options.output.empty()) {
    return Error{ErrorKind::kUsage, "-o: a file name is missing", "write -o - for standard output"};
  }
  // Before minutes of work; again once all databases are known.
  if (options.output == "-") return Done{};
  return OutputGuard{{options.database}, {}, options.force}.Check(options.output);
}

// The rank's own database in place of a gathered one, with the job's start and clocks.
Result<SqliteDb> OpenRankOfCut(const CutOptions& options) {
  const auto refused = [](std::string what, std::string advice) {
    return Error{ErrorKind::kUsage, "--detail: " + std::move(what), std::move(advice)};
  };
  TRACEDB_ASSIGN(db, OpenTraceDatabase(options.database));
  TRACEDB_ASSIGN(gathered, IsGathered(db));
  if (!gathered) return db;
  if (options.critical_path || options.slowest_collective) {
    return refused(options.critical_path ? "--critical-path is of all ranks together"
                                         : "--slowest-collective is of all ranks together",
                   "tracedb query nccl_stalls says when: --start and --end");
  }
  if (options.ranks.empty()) {
    return refused("a cut of the own database of one rank, and none is named",
                   "for example: tracedb cut --detail --rank 5 -o cut.json.gz");
  }
  TRACEDB_ASSIGN(places, FindRankPlaces(db, options.ranks, options.run));
  if (places.size() == 1) return OpenRankDatabase(options.database, places.front());
  return refused("one rank at a time: events of several are in as many databases",
                 "cut each by itself; or ingest their traces into one database");
}

// What SQLite says of an interrupt names its own machinery.
Status Told(Status done, const std::atomic<bool>& stop) {
  if (done.ok() || !stop || done.error().kind == ErrorKind::kClosed) return done;
  return Error{ErrorKind::kOutput, "interrupted", "no file was written"};
}

using WriteCut = std::function<Status(CutWriter& writer)>;

Status Cut(SqliteDb& db, const CutOptions& options, const std::atomic<bool>& stop,
           const WriteCut& write, CutReport& report) {
  if (options.critical_path && options.on_open) TRACEDB_TRY(options.on_open(db));
  TRACEDB_ASSIGN(chosen, ChooseRun(db, options, stop));
  const CutSources& sources = chosen.sources;
  TRACEDB_TRY(CheckNames(db, sources, options));
  report.notes = chosen.notes;
  TRACEDB_ASSIGN(writer, CutWriter::Open(db, sources, options, stop));
  TRACEDB_TRY(write(writer));
  if (chosen.has_window && report.events == 0) {
    const Interval span = sources.Span().value_or(Interval{});
    report.notes.push_back(fmt::format(
        "no event of those asked for is in that time; the first one of all begins at 0s "
        "({} ns), the last one ends at {:.6f}s",
        span.start_ns, static_cast<double>(span.end_ns - span.start_ns) / 1e9));
  }
  return Done{};
}

}  // namespace

Result<CutReport> CutTrace(const CutOptions& options, const std::atomic<bool>& stop) {
  TRACEDB_TRY(CheckOutput(options));
  TRACEDB_ASSIGN(db, options.detail ? OpenRankOfCut(options) : OpenTraceDatabase(options.database));
  db.StopWhen(stop);
  // All that is read is of one state of the database, whatever is ingested meanwhile.
  TRACEDB_TRY(db.Execute("BEGIN"));
  CutReport report;
  const auto write = [&](CutWriter& writer) -> Status {
    // With --detail the second is the rank's own.
    OutputGuard guard{{options.database, db.path()}, {}, options.force};
    return ToOutput(writer, options, std::move(guard), report);
  };
  TRACEDB_TRY(Told(Cut(db, options, stop, write, report), stop));
  return report;
}

Result<CutReport> CutPacked(const CutOptions& options, const std::function<bool()>& should_stop,
                            OutputStream& output) {
  const std::atomic<bool> never = false;  // SQLite asks instead, before each row
  TRACEDB_ASSIGN(db, OpenTraceDatabase(options.database));
  db.StopIf(should_stop);
  TRACEDB_TRY(db.Execute("BEGIN"));
  CutReport report;
  const auto write = [&](CutWriter& writer) -> Status {
    TRACEDB_ASSIGN(packed, GzipOutput::Create(output));
    TRACEDB_TRY(writer.Write(*packed, report));
    TRACEDB_TRY(packed->Finish());
    return output.Flush();
  };
  TRACEDB_TRY(Cut(db, options, never, write, report));
  return report;
}

}  // namespace tracedb
