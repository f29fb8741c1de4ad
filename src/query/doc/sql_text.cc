#include "query/doc/sql_text.h"

#include <algorithm>
#include <array>
#include <cstddef>

namespace tracedb {
namespace {

bool IsSpace(char c) { return c == ' ' || (c >= '\t' && c <= '\r'); }

bool IsWord(char c) {
  const auto byte = static_cast<unsigned char>(c);
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
         c == '$' || byte >= 0x80;
}

size_t EndOfLine(std::string_view sql) { return std::min(sql.find('\n'), sql.size()); }

size_t EndOfBlockComment(std::string_view sql) {
  const size_t end = sql.find("*/", 2);
  return end == std::string_view::npos ? sql.size() : end + 2;
}

// The length of a quoted text or name; a doubled quote in it looks like two that touch, which
// makes no difference here.
size_t QuotedLength(std::string_view sql) {
  const char close = sql[0] == '[' ? ']' : sql[0];
  const size_t end = sql.find(close, 1);
  return end == std::string_view::npos ? sql.size() : end + 1;
}

// Takes the next token off `sql`: a word, something quoted, or one character. Empty at the end.
std::string_view TakeToken(std::string_view& sql) {
  while (!sql.empty()) {
    size_t blank = 0;
    if (IsSpace(sql[0])) {
      blank = 1;
    } else if (sql.starts_with("--")) {
      blank = EndOfLine(sql);
    } else if (sql.starts_with("/*")) {
      blank = EndOfBlockComment(sql);
    }
    if (blank == 0) break;
    sql.remove_prefix(blank);
  }
  if (sql.empty()) return {};
  size_t length = 1;
  if (IsWord(sql[0])) {
    while (length < sql.size() && IsWord(sql[length])) ++length;
  } else if (sql[0] == '\'' || sql[0] == '"' || sql[0] == '`' || sql[0] == '[') {
    length = QuotedLength(sql);
  }
  const std::string_view token = sql.substr(0, length);
  sql.remove_prefix(length);
  return token;
}

std::string Upper(std::string_view word) {
  std::string upper(word);
  for (char& c : upper) {
    if (c >= 'a' && c <= 'z') c = static_cast<char>(c - 'a' + 'A');
  }
  return upper;
}

// After WITH: the first word outside parentheses that begins a statement. The names of the common
// tables in between cannot be such words unless they are quoted.
std::string VerbAfterWith(std::string_view sql) {
  constexpr std::array<std::string_view, 6> kVerbs = {"SELECT", "VALUES", "INSERT",
                                                      "UPDATE", "DELETE", "REPLACE"};
  int depth = 0;
  for (std::string_view token = TakeToken(sql); !token.empty(); token = TakeToken(sql)) {
    if (token == "(") ++depth;
    if (token == ")") --depth;
    if (depth == 0 && token == ";") break;
    if (depth != 0) continue;
    const std::string word = Upper(token);
    if (std::find(kVerbs.begin(), kVerbs.end(), word) != kVerbs.end()) return word;
  }
  return "WITH";
}

}  // namespace

std::string_view SkipBlankSql(std::string_view sql) {
  while (true) {
    std::string_view after = sql;
    const std::string_view token = TakeToken(after);
    if (token != ";") {
      return token.empty() ? std::string_view()
                           : sql.substr(static_cast<size_t>(token.data() - sql.data()));
    }
    sql = after;
  }
}

bool IsCompoundSql(std::string_view sql) {
  int depth = 0;
  for (std::string_view token = TakeToken(sql); !token.empty(); token = TakeToken(sql)) {
    if (token == "(") ++depth;
    if (token == ")") --depth;
    const std::string word = depth == 0 ? Upper(token) : "";
    if (word == "UNION" || word == "INTERSECT" || word == "EXCEPT") return true;
  }
  return false;
}

std::string StatementVerb(std::string_view sql) {
  std::string verb = Upper(TakeToken(sql));
  if (verb == "EXPLAIN") {
    verb = Upper(TakeToken(sql));
    if (verb == "QUERY") {
      TakeToken(sql);  // PLAN
      verb = Upper(TakeToken(sql));
    }
  }
  if (verb == "WITH") return VerbAfterWith(sql);
  return verb.empty() || !IsWord(verb[0]) ? "" : verb;
}

bool VerbChanges(std::string_view verb) {
  constexpr std::array<std::string_view, 18> kChanging = {
      "INSERT", "UPDATE", "DELETE", "REPLACE",  "CREATE",    "DROP",
      "ALTER",  "ATTACH", "DETACH", "VACUUM",   "REINDEX",   "ANALYZE",
      "BEGIN",  "COMMIT", "END",    "ROLLBACK", "SAVEPOINT", "RELEASE"};
  return std::find(kChanging.begin(), kChanging.end(), verb) != kChanging.end();
}

std::string PragmaName(std::string_view sql) {
  TakeToken(sql);  // PRAGMA
  std::string_view name = TakeToken(sql);
  std::string_view after = sql;
  if (TakeToken(after) == ".") name = TakeToken(after);
  std::string lower(name);
  for (char& c : lower) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return lower;
}

std::string QuoteSqlName(std::string_view name) {
  std::string quoted = "\"";
  for (char c : name) {
    if (c == '"') quoted += '"';
    quoted += c;
  }
  return quoted + '"';
}

}  // namespace tracedb
