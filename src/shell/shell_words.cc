#include "shell/shell_words.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>

#include "tracedb/text/near_name.h"
#include "tracedb/text/result_text.h"

namespace tracedb {
namespace {

// Those that change something are refused with a sentence, by the query.
constexpr std::array<std::string_view, 21> kVerbs = {
    "SELECT", "WITH",   "VALUES", "EXPLAIN", "PRAGMA",  "INSERT",    "UPDATE",
    "DELETE", "CREATE", "DROP",   "ALTER",   "ATTACH",  "DETACH",    "REPLACE",
    "BEGIN",  "COMMIT", "END",    "VACUUM",  "REINDEX", "SAVEPOINT", "ROLLBACK"};

constexpr std::array kDotCommands = {
    DotCommand{".help", "", "this list"},
    DotCommand{".queries", "", "the canned queries; NAME KEY=VALUE runs one"},
    DotCommand{".explain", "QUERY", "what a query means, and its SQL"},
    DotCommand{".tables", "[PATTERN]", "tables and views, such as kernel*"},
    DotCommand{".schema", "[TABLE]", "what their columns are"},
    DotCommand{".mode", "[FORMAT]", "table, wide, vertical, csv, tsv, json, ndjson, markdown"},
    DotCommand{".once", "FILE", "the next result goes to that file"},
    DotCommand{".read", "FILE", "runs the lines of a file"},
    DotCommand{".timer", "on|off", "how long each result took"},
    DotCommand{".quit", "", "ends the shell, as ctrl-D and .exit do"},
};

const std::vector<std::string> kQueryFlags = {"--plot", "--wide", "--vertical", "--explain"};

}  // namespace

std::span<const DotCommand> DotCommands() { return kDotCommands; }

Result<std::vector<std::string>> ShellWords(std::string_view line) {
  std::vector<std::string> words;
  bool in_word = false;
  char quote = 0;
  for (const char c : line) {
    const bool is_blank = c == ' ' || c == '\t';
    if (quote != 0) {
      if (c == quote) {
        quote = 0;
      } else {
        words.back() += c;
      }
      continue;
    }
    if (is_blank) {
      in_word = false;
      continue;
    }
    if (!in_word) words.emplace_back();
    in_word = true;
    if (c == '\'' || c == '"') {
      quote = c;
    } else {
      words.back() += c;
    }
  }
  if (quote == 0) return words;
  return Error{ErrorKind::kUsage, fmt::format("a {} is not closed", quote), ""};
}

bool BeginsSql(std::string_view line) {
  const size_t begin = line.find_first_not_of(" \t");
  if (begin == std::string_view::npos) return false;
  line.remove_prefix(begin);
  if (line.starts_with("--") || line.starts_with("/*") || line.starts_with('(')) return true;
  std::string word;
  for (const char c : line) {
    if (std::isalpha(static_cast<unsigned char>(c)) == 0) break;
    word += static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  }
  return std::find(kVerbs.begin(), kVerbs.end(), word) != kVerbs.end();
}

Status TakeQueryWords(const std::vector<std::string>& words, QueryOptions& options) {
  options.source = words.front();
  for (size_t i = 1; i < words.size(); ++i) {
    const std::string& word = words[i];
    if (word == "-p" || word == "--param") continue;  // as on the command line; what follows counts
    if (word == "--plot") {
      options.plot = true;
    } else if (word == "--wide") {
      options.wide = true;
    } else if (word == "--vertical") {
      options.vertical = true;
    } else if (word == "--explain") {
      options.explain = true;
    } else if (word.find('=') != std::string::npos && !word.starts_with('-')) {
      options.params.push_back(word);
    } else {
      const auto near = NearNames(word, kQueryFlags);
      return Error{ErrorKind::kUsage,
                   fmt::format("{}: '{}' is neither KEY=VALUE nor one of {}", words.front(),
                               ShownText(word), JoinNames(kQueryFlags)),
                   near.empty() ? "" : DidYouMean(near)};
    }
  }
  return Done{};
}

}  // namespace tracedb
