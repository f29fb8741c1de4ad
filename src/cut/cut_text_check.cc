#include "cut/cut_text_check.h"

#include <fmt/format.h>

#include "tracedb/json/json_check.h"
#include "tracedb/schema/args_columns.h"

namespace tracedb {

Error DamagedError(const std::string& what) {
  return Error{ErrorKind::kInput, fmt::format("the database is damaged: {}", what),
               "ingest its traces again into a new database, named with --db"};
}

bool AreJsonMembers(std::string_view text) {
  const size_t begin = text.find_first_not_of(" \t\r\n");
  return begin != std::string_view::npos && text[begin] == '"' &&
         IsJson(fmt::format("{{{}}}", text));
}

bool IsSoundWithIntegers(std::string_view text, bool members) {
  std::string filled;
  for (const char c : text) {
    // No digit and no sign can stand around this one without the text being no JSON.
    if (IsArgsMark(c)) {
      filled += "-0";
    } else {
      filled += c;
    }
  }
  return members ? AreJsonMembers(filled) : IsJson(filled);
}

Result<bool> CheckHeaderText(std::string_view header) {
  if (!header.starts_with('{') || !header.ends_with('}') || !IsJson(header)) {
    return DamagedError("a trace's header is no JSON object");
  }
  header.remove_prefix(1);
  return header.find_first_not_of(" \t\r\n") == header.size() - 1;
}

}  // namespace tracedb
