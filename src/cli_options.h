// The command line: every option with its help in one place (cli_options.cc).
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "tracedb/base/result.h"
#include "tracedb/cut/cut_command.h"
#include "tracedb/serve/serve_command.h"
#include "tracedb/text/result_sink.h"
#include "tracedb/watch/watch_command.h"

namespace tracedb {

enum class ColorChoice { kAuto, kAlways, kNever };

struct GlobalOptions {
  std::filesystem::path database;
  bool quiet = false;
  bool no_pager = false;
  bool verbose = false;
  ColorChoice color = ColorChoice::kAuto;
};

struct IngestOptions {
  std::vector<std::string> inputs;
  std::optional<int64_t> rank;
  std::optional<std::string> run;
  bool strict = false;
  bool replace = false;
  bool keep_args = true;
  bool json = false;                     // the closing summary
  size_t memory_bytes = 0;               // 0: as suits the machine
  unsigned threads = 0;                  // parsing threads; 0: as many as suit the machine
  unsigned jobs = 0;                     // files read at a time; 0: the same
  size_t block_bytes = 0;                // hidden, for tests
  std::optional<int64_t> utc_offset_ns;  // of local times without a zone
  bool whole_only = false;               // of watch: what breaks off is left for later
  bool keep_osrt = false;       // of exports of Nsight Systems: calls of the system's libraries
  std::filesystem::path shard;  // the folder for the summary; empty: none is made
  std::string shard_inputs;     // own, all or deal; empty: as the launcher suggests
};

struct GatherArguments {
  std::filesystem::path folder;
  std::filesystem::path output;  // empty: the database of GlobalOptions
  std::string run;               // empty: as the summaries say
  bool force = false;
};

struct WatchArguments {
  WatchOptions watch;  // but the database, which is that of GlobalOptions, and what it calls
  IngestOptions ingest;
};

struct QueryArguments {
  std::string source;
  std::string command;
  std::vector<std::string> params;
  std::optional<Format> format;
  std::filesystem::path output;
  bool force = false;
  bool no_header = false;
  bool safe_csv = false;
  bool explain = false;
  bool schema = false;
  bool plot = false;
  bool wide = false;
  bool vertical = false;
  bool detail = false;
  std::string assert_expression;
};

struct InfoOptions {
  std::optional<Format> format;
  bool issues = false;
  bool schema = false;
};

struct AlignOptions {
  std::filesystem::path database;  // empty: that of GlobalOptions
  bool show = false;               // only
  bool reset = false;
  std::optional<Format> format;
};

struct DoctorOptions {
  std::vector<std::string> inputs;  // none: the database of GlobalOptions
  bool json = false;
};

struct ReportArguments {
  std::filesystem::path output = "report.html";  // "-": standard output
  bool force = false;
  std::string run;  // empty: the last to begin
  std::optional<int64_t> capture;
  std::optional<int64_t> step;  // that it is about
  std::optional<int64_t> rank;  // whose timeline is shown first
  std::string title;            // empty: the database's name
  std::string theme;            // light, dark; empty: the reader's
};

struct WhatIfArguments {
  std::vector<std::string> without;  // "name=x", "rank-late=5"
  std::vector<std::string> scale;    // the same, and "=0.5"
  std::string network;               // "2", "inf"
  std::string launch_latency;        // "2us"
  std::string balance;               // "ranks", "stages"
  std::string run;                   // empty: all
  std::optional<int64_t> capture;
  std::optional<int64_t> step;
  bool critical = false;  // also what is critical then
  std::optional<Format> format;
  std::filesystem::path output;
  bool force = false;
};

struct CompareArguments {
  std::vector<std::string> inputs;  // BASE NEW; with --table any number
  std::vector<std::string> base;    // or so, several a side
  std::vector<std::string> now;
  std::string format;  // text, json, markdown, html; of rows that of a result; empty: as -o ends
  std::filesystem::path output;
  bool force = false;
  std::string effect_min;          // "1%"; empty: the default
  std::string gate;                // "3%"; empty: none
  std::string cannot_tell;         // "pass" or "fail"; empty: the default, fail
  std::filesystem::path baseline;  // a file of `tracedb baseline`; empty: none
  std::optional<size_t> rows_max;
  bool critical_path = false;
  bool table = false;
  std::optional<std::string> command;  // SQL over the comparison's tables
};

struct BaselineArguments {
  std::vector<std::string> inputs;  // runs that are alike
  std::filesystem::path output = "baseline.json";
  bool force = false;
};

struct ServeArguments {
  ServeOptions serve;  // but the database, which is that of GlobalOptions, and the token
  std::optional<std::string> token;
  std::optional<std::string> token_file;
  bool open = false;
};

struct ExportArguments {
  std::string format = "xlsx";
  std::vector<std::string> queries;
  std::vector<std::string> params;
  std::filesystem::path output;
  bool force = false;
  std::string engine;  // not empty: a query as its SQL
  std::string shards;
};

enum class Command {
  kIngest,
  kGather,
  kWatch,
  kQuery,
  kServe,
  kInfo,
  kAlign,
  kDoctor,
  kCut,
  kReport,
  kWhatIf,
  kCompare,
  kBaseline,
  kShell,
  kExport,
  kShowText,
};

struct CommandLine {
  Command command = Command::kShowText;
  GlobalOptions global;
  IngestOptions ingest;
  GatherArguments gather;
  WatchArguments watch;
  QueryArguments query;
  ServeArguments serve;
  InfoOptions info;
  AlignOptions align;
  DoctorOptions doctor;
  CutOptions cut;  // but the database, which is that of GlobalOptions
  ReportArguments report;
  WhatIfArguments what_if;
  CompareArguments compare;
  BaselineArguments baseline;
  ExportArguments workbook;
  std::string text;  // kShowText: help or version, for standard output
};

// An error is of kind kUsage, with advice where to find help.
Result<CommandLine> ParseCommandLine(int argc, const char* const* argv);

}  // namespace tracedb
