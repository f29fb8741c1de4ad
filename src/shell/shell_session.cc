#include "shell/shell_session.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <filesystem>
#include <system_error>
#include <utility>

#include "shell/shell_words.h"
#include "tracedb/base/database_files.h"
#include "tracedb/base/sqlite_db.h"
#include "tracedb/query/doc/query_file.h"
#include "tracedb/text/near_name.h"
#include "tracedb/text/result_text.h"

namespace tracedb {
namespace {

std::vector<std::string> DotNames() {
  std::vector<std::string> names;
  for (const DotCommand& command : DotCommands()) names.emplace_back(command.name);
  return names;
}

Error TakesOne(std::string_view name, std::string_view what) {
  return Error{ErrorKind::kUsage, fmt::format("{} takes {}", name, what), "see: .help"};
}

}  // namespace

QueryOptions ShellSession::Shown() const {
  QueryOptions query = options_.query;
  if (!format_.empty()) query.format = FormatByName(format_);
  query.wide = wide_;
  query.vertical = vertical_;
  query.output = once_;
  return query;
}

Status ShellSession::Run(QueryOptions query) {
  // A table, as it was asked for.
  if (query.wide || query.vertical || query.plot) query.format.reset();
  const auto begin = std::chrono::steady_clock::now();
  auto outcome = RunQueryCommand(query, catalog_);
  once_.clear();
  if (!outcome.ok()) {
    Error error = std::move(outcome).error();
    constexpr std::string_view kOption = "--command:";  // nobody gave that here
    if (error.what.starts_with(kOption)) error.what.replace(0, kOption.size(), "SQL:");
    return error;
  }
  if (!outcome.value().note.empty()) options_.say(outcome.value().note);
  if (timer_) {
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin;
    options_.say(fmt::format("{:.3f} s", took.count()));
  }
  return Done{};
}

Status ShellSession::TakeSql(const std::string& line) {
  if (sql_.size() + line.size() > kSqlBytesMax) {
    sql_.clear();
    return Error{ErrorKind::kUsage, fmt::format("SQL of over {} bytes", kSqlBytesMax), ""};
  }
  sql_ += line + "\n";
  return EndsStatement(sql_) ? Finish() : Status(Done{});
}

Status ShellSession::Finish() {
  QueryOptions query = Shown();
  query.command = std::exchange(sql_, {});
  return query.command.empty() ? Status(Done{}) : Run(std::move(query));
}

Status ShellSession::Take(const std::string& line) {
  if (is_pending()) return TakeSql(line);
  std::string trimmed = line.substr(std::min(line.find_first_not_of(" \t"), line.size()));
  if (trimmed.empty()) return Done{};
  if (trimmed.starts_with('.')) {
    TRACEDB_ASSIGN(words, ShellWords(trimmed));
    return TakeDot(words);
  }
  if (BeginsSql(trimmed)) return TakeSql(line);
  while (trimmed.ends_with(';') || trimmed.ends_with(' ')) trimmed.pop_back();
  if (trimmed.empty()) return Done{};
  TRACEDB_ASSIGN(words, ShellWords(trimmed));
  if (words.front() == "quit" || words.front() == "exit") {
    is_over_ = true;
    return Done{};
  }
  if (words.front() == "help" || words.front() == "?") return ShowHelp();
  QueryOptions query = Shown();
  TRACEDB_TRY(CheckQueryName(words.front()));
  TRACEDB_TRY(TakeQueryWords(words, query));
  return Run(std::move(query));
}

// What may be typed here in its place is said; a path is that of a file of SQL.
Status ShellSession::CheckQueryName(const std::string& name) const {
  std::error_code code;
  const bool is_file = std::filesystem::exists(name, code) || name.find('/') != name.npos;
  if (catalog_.Find(name) != nullptr || is_file) return Done{};
  Error error = catalog_.Get(name).error();
  if (name == "tracedb") {
    error.advice = "here it is left out: overlap rank=0; other commands are for outside";
  } else if (const std::string select = SelectOfTable(name); !select.empty()) {
    error.what += ", but a table of that name";
    error.advice = select + ";";
  } else {
    std::vector<std::string> names = DotNames();
    for (const QueryDoc& doc : catalog_.queries()) {
      if (!doc.IsInFolder()) names.push_back(doc.name);
    }
    const std::vector<std::string> near = NearNames(name, names);
    error.advice = near.empty() ? ".queries lists them" : DidYouMean(near) + " .queries lists all";
  }
  return error;
}

Status ShellSession::TakeMode(const std::vector<std::string>& words) {
  const std::string mode = words.size() < 2 ? "" : words[1];
  if (mode.empty()) return SayMode();
  const bool is_table = mode == "wide" || mode == "vertical";
  if (!is_table && !FormatByName(mode).has_value()) {
    const std::vector<std::string> modes = {"table", "wide", "vertical", "csv",
                                            "tsv",   "json", "ndjson",   "markdown"};
    const std::vector<std::string> near = NearNames(mode, modes);
    return Error{
        ErrorKind::kUsage, fmt::format(".mode has no '{}'", ShownText(mode)),
        fmt::format("{}{}one of: {}", DidYouMean(near), near.empty() ? "" : " ", JoinNames(modes))};
  }
  format_ = is_table ? "" : mode;
  wide_ = mode == "wide";
  vertical_ = mode == "vertical";
  return Done{};
}

Status ShellSession::SayMode() const {
  options_.say(fmt::format("the mode is {}", wide_              ? "wide"
                                             : vertical_        ? "vertical"
                                             : !format_.empty() ? format_
                                                                : "table on a terminal, else csv"));
  return Done{};
}

Status ShellSession::ShowRelations(const std::string& pattern) {
  QueryOptions query = Shown();
  query.schema = true;
  query.schema_names = true;
  query.source = pattern;
  return Run(std::move(query));
}

Status ShellSession::ReadLines(const std::string& file) {
  if (reads_.size() == kReadsDeep) {
    return Error{ErrorKind::kUsage,
                 fmt::format("{}: .read within .read, {} deep", ShownText(file), kReadsDeep), ""};
  }
  TRACEDB_ASSIGN(text, ReadQueryFile(file));
  reads_.push_back(file);
  Status done = Done{};
  int number = 0;
  for (size_t at = 0; at < text.size() && done.ok() && !is_over_;) {
    const size_t end = std::min(text.find('\n', at), text.size());
    done = Take(text.substr(at, end - at));
    at = end + 1;
    ++number;
  }
  if (done.ok()) done = Finish();
  reads_.pop_back();
  if (done.ok()) return done;
  sql_.clear();
  Error error = std::move(done).error();
  error.what = fmt::format("{}:{}: {}", ShownText(file), number, error.what);
  return error;
}

Status ShellSession::TakeOnce(const std::string& file) {
  for (const std::string& read : reads_) {
    if (!IsSameFile(file, read)) continue;
    return Error{ErrorKind::kUsage,
                 fmt::format(".once {}: its lines are being read", ShownText(file)),
                 "write to another file"};
  }
  once_ = file;
  return Done{};
}

Status ShellSession::ShowHelp() {
  std::string text =
      "overlap rank=0,3..5      runs a canned query with parameters; --plot draws it\n"
      "SELECT ... ;             SQL over the tables and views, up to a semicolon\n\n";
  for (const DotCommand& command : DotCommands()) {
    text +=
        fmt::format("{:<24} {}\n", fmt::format("{} {}", command.name, command.takes), command.text);
  }
  DescriptorOutput output(1, "standard output");
  TRACEDB_TRY(output.Write(text));
  return output.Flush();
}

Status ShellSession::TakeDot(const std::vector<std::string>& words) {
  const std::string& name = words.front();
  const std::string value = words.size() < 2 ? "" : words[1];
  if (words.size() > 2) return TakesOne(name, "one word at most");
  if (name == ".quit" || name == ".exit") {
    is_over_ = true;
    return Done{};
  }
  if (name == ".help") return ShowHelp();
  if (name == ".queries") return Run(Shown());
  if (name == ".tables") return ShowRelations(value);
  if (name == ".mode") return TakeMode(words);
  if (name == ".schema") {
    QueryOptions query = Shown();
    query.schema = true;
    query.source = value;
    return Run(std::move(query));
  }
  if (name == ".timer") {
    if (value != "on" && value != "off") return TakesOne(name, "on or off");
    timer_ = value == "on";
    return Done{};
  }
  if (name == ".explain" || name == ".once" || name == ".read") {
    if (value.empty()) return TakesOne(name, name == ".explain" ? "a query's name" : "a file");
    if (name == ".read") return ReadLines(value);
    if (name == ".once") return TakeOnce(value);
    QueryOptions query = Shown();
    query.source = value;
    query.explain = true;
    return Run(std::move(query));
  }
  const auto near = NearNames(name, DotNames());
  return Error{ErrorKind::kUsage, fmt::format("there is no command {}", ShownText(name)),
               near.empty() ? "see: .help" : DidYouMean(near)};
}

}  // namespace tracedb
