#include <algorithm>
#include <memory>
#include <utility>

#include "cli_commands.h"
#include "cli_sources.h"
#include "tracedb/base/database_files.h"
#include "tracedb/sources/nsys/nsys_export.h"
#include "tracedb/sources/nsys/report_conversion.h"

namespace tracedb {
namespace {

bool IsReport(const std::filesystem::path& path) { return path.extension() == ".nsys-rep"; }

// Its traces, under the name of `file`; `conversion` is kept as long as they are to be read.
Status AddExport(const InputFile& file, std::shared_ptr<const ReportConversion> conversion,
                 const IngestOptions& options, const std::atomic<bool>& stop,
                 std::vector<InputFile>& files) {
  NsysOptions nsys;
  nsys.keep_osrt = options.keep_osrt;
  if (conversion != nullptr) nsys.made_of = file.path;
  const std::filesystem::path path = conversion != nullptr ? conversion->made() : file.path;
  TRACEDB_ASSIGN(found, NsysExport::Look(path, nsys, &stop));
  for (size_t part = 0; part < found->parts().size(); ++part) {
    InputFile trace = file;
    trace.part = found->parts()[part].name;
    trace.read_mark = found->ReadMark(part);
    trace.by_device = true;
    trace.rank_is_guess = found->parts()[part].rank_is_guess;
    trace.open = [found, conversion, part](const std::atomic<bool>* asked, size_t memory_bytes) {
      return found->Open(part, asked, memory_bytes);
    };
    files.push_back(std::move(trace));
  }
  return Done{};
}

Status AddReport(const GlobalOptions& global, const InputFile& file, const IngestOptions& options,
                 const std::atomic<bool>& stop, std::vector<InputFile>& files) {
  if (ReportConversion::IsPossible()) {
    SayNote(global, file.path.string() + ": made an export by nsys export");
  }
  TRACEDB_ASSIGN(conversion, ReportConversion::Run(file.path, global.database, stop));
  return AddExport(file, conversion, options, stop, files);
}

// nsys leaves a report's export beside it, under the same name.
bool HasExportBeside(const InputFile& report, const std::vector<InputFile>& files) {
  std::filesystem::path beside = report.path;
  beside.replace_extension(".sqlite");
  return std::any_of(files.begin(), files.end(),
                     [&beside](const InputFile& file) { return file.path == beside; });
}

}  // namespace

Result<SplitInputs> SplitExports(const GlobalOptions& global, const IngestOptions& options,
                                 const std::atomic<bool>& stop, std::vector<InputFile> files) {
  SplitInputs split;
  for (const InputFile& file : files) {
    const bool is_report = IsReport(file.path);
    if (file.path == "-" || (!is_report && !IsSqliteFile(file.path))) {
      split.files.push_back(file);
      continue;
    }
    if (is_report && file.is_searched() && HasExportBeside(file, files)) continue;
    Status added = is_report ? AddReport(global, file, options, stop, split.files)
                             : AddExport(file, nullptr, options, stop, split.files);
    if (added.ok()) continue;
    const Error& error = added.error();
    if (stop.load()) return Error{ErrorKind::kInput, "interrupted", "the database is as it was"};
    if (!file.is_searched()) return error;
    if (is_report && error.kind == ErrorKind::kNoTrace) {
      SayNote(global, error.what + ": " + error.advice + "; passed over");
      continue;
    }
    if (error.kind == ErrorKind::kNoTrace) {
      split.files.push_back(file);
      split.files.back().is_named_like_trace = false;
      continue;
    }
    SayNote(global, error.what + "; the others go on");
    if (!split.failed.has_value()) split.failed = error;
  }
  return split;
}

}  // namespace tracedb
