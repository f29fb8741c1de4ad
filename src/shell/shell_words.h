// What a line of the shell is, and its words.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tracedb/base/result.h"
#include "tracedb/query/run/query_command.h"

namespace tracedb {

struct DotCommand {
  std::string_view name;
  std::string_view takes;
  std::string_view text;
};
// What the shell knows beside queries and SQL, in the order of its help.
std::span<const DotCommand> DotCommands();

// Parted by blanks; what stands in ' or " is one word. A quote that is not closed is an error.
Result<std::vector<std::string>> ShellWords(std::string_view line);

// Whether SQL begins with this word, so that a line goes on to the next semicolon.
bool BeginsSql(std::string_view line);

// "overlap rank=0,3..5 --plot": a canned query with parameters, and how it is to be shown. What is
// given in the words goes into `options`.
Status TakeQueryWords(const std::vector<std::string>& words, QueryOptions& options);

}  // namespace tracedb
