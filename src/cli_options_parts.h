// Options that several commands have, and those of each command.
#pragma once

#include <string>

#include "cli_options.h"

namespace CLI {
class App;
}

namespace tracedb {

// For a file to write: an empty name, as of a variable that is not set, is an error. What is wrong,
// or nothing.
std::string IsNamed(const std::string& file);
// -o, --output and --force: a file that is written whole or not at all.
void AddOutput(CLI::App& app, std::filesystem::path& output, bool& force,
               const std::string& otherwise = "");
void AddForce(CLI::App& app, bool& force);
// "128M", "1.5G", "262144": bytes. Throws what CLI11 turns into a usage error of that option.
size_t ParseSize(const std::string& text, const std::string& option);
// Options of ingest that are read as text and looked at once all are there.
struct IngestTexts {
  std::string memory;
  std::string args = "all";
  std::vector<std::string> keep;
  std::string format = "text";
  std::string zone;
};
void AddIngest(CLI::App& app, IngestOptions& options, IngestTexts& texts);
void TakeIngestTexts(const IngestTexts& texts, IngestOptions& options);
// The same of watch.
struct WatchTexts {
  std::string memory;
  std::vector<std::string> keep;
  std::string every;
  std::string settle;
  std::string args = "all";
  std::string format = "text";
};
void AddWatch(CLI::App& app, WatchArguments& arguments, WatchTexts& texts);
void TakeWatchTexts(const WatchTexts& texts, WatchArguments& arguments);
void AddQuery(CLI::App& app, QueryArguments& options, std::string& format);
void AddCut(CLI::App& app, CutOptions& options);
void AddServe(CLI::App& app, ServeArguments& arguments);
void AddWhatIf(CLI::App& app, WhatIfArguments& arguments);
// Which format a result has where no option says it.
inline constexpr const char* kByEnding =
    " (default: by -o's ending, else table on a terminal, else csv)";
// Of a result; FormatByName knows them all.
void AddFormat(CLI::App& app, std::string& format, const std::string& otherwise = "",
               const std::vector<std::string>& more = {});
void AddInfo(CLI::App& app, InfoOptions& options, std::string& format);
void AddAlign(CLI::App& app, AlignOptions& options, std::string& format);
void AddDoctor(CLI::App& app, DoctorOptions& options, std::string& format);
void AddReport(CLI::App& app, ReportArguments& arguments);
void AddShell(CLI::App& app);
void AddExport(CLI::App& app, ExportArguments& arguments);
// Of ingest: a summary for the other ranks.
void AddShard(CLI::App& ingest, IngestOptions& options);
void AddGather(CLI::App& app, GatherArguments& arguments);
// Of which shell.
void AddCompletion(CLI::App& app, std::string& shell);
void AddCompare(CLI::App& app, CompareArguments& arguments);
void AddBaseline(CLI::App& app, BaselineArguments& arguments);

}  // namespace tracedb
