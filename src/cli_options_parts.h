// Options that several commands have, and those of cut, serve, watch and what-if, which have the
// most.
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
// Options of watch that are read as text, and looked at once all are there.
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
void AddCut(CLI::App& app, CutOptions& options);
void AddServe(CLI::App& app, ServeArguments& arguments);
void AddWhatIf(CLI::App& app, WhatIfArguments& arguments);
// Of a result; FormatByName knows them all.
void AddFormat(CLI::App& app, std::string& format, const std::string& otherwise = "",
               const std::vector<std::string>& more = {});
void AddInfo(CLI::App& app, InfoOptions& options, std::string& format);
void AddAlign(CLI::App& app, AlignOptions& options, std::string& format);
void AddDoctor(CLI::App& app, DoctorOptions& options, std::string& format);
void AddReport(CLI::App& app, ReportArguments& arguments);
// The commands shell and export.
void AddPrompt(CLI::App& app, ExportArguments& arguments);
// Of ingest: a summary for the other ranks; and the command gather.
void AddShard(CLI::App& ingest, IngestOptions& options);
void AddGather(CLI::App& app, GatherArguments& arguments);
// The command completion, of which shell.
const CLI::App* AddCompletion(CLI::App& app, std::string& shell);
// The commands compare and baseline.
void AddCompare(CLI::App& app, CompareArguments& compare, BaselineArguments& baseline);

}  // namespace tracedb
