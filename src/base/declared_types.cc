#include "tracedb/base/declared_types.h"

#include <sqlite3.h>

#include <algorithm>
#include <cctype>
#include <memory>
#include <string_view>

namespace tracedb {
namespace {

// By SQLite's rules of affinity; our schema writes its types in capitals.
SqlType TypeOf(std::string_view declared) {
  if (declared.find("INT") != std::string_view::npos) return SqlType::kInteger;
  return declared == "REAL" ? SqlType::kReal : SqlType::kNull;
}

// What ends a text, a name or a comment that begins here; nothing: none begins.
std::string_view EndOfQuoted(std::string_view sql) {
  if (sql.starts_with("--")) return "\n";
  if (sql.starts_with("/*")) return "*/";
  if (sql.starts_with("[")) return "]";
  return std::string_view("'\"`").find(sql[0]) != std::string_view::npos ? sql.substr(0, 1) : "";
}

bool IsOfWord(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }

// SELECT ... UNION SELECT ...: of its parts SQLite tells the first one's types.
bool IsCompound(std::string_view sql) {
  int depth = 0;
  std::string word;
  while (!sql.empty()) {
    if (const std::string_view end = EndOfQuoted(sql); !end.empty()) {
      const size_t at = sql.find(end, end == "*/" ? 2 : 1);
      if (at == sql.npos) return false;
      sql.remove_prefix(at + end.size());
      continue;
    }
    const size_t bytes =
        static_cast<size_t>(std::find_if_not(sql.begin(), sql.end(), IsOfWord) - sql.begin());
    word.assign(sql.substr(0, bytes));
    for (char& c : word) c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
    if (depth == 0 && (word == "UNION" || word == "INTERSECT" || word == "EXCEPT")) return true;
    depth += sql[0] == '(' ? 1 : sql[0] == ')' ? -1 : 0;
    sql.remove_prefix(std::max<size_t>(bytes, 1));
  }
  return false;
}

}  // namespace

std::vector<SqlType> DeclaredTypes(SqliteDb& db, const std::string& sql) {
  if (IsCompound(sql)) return {};
  sqlite3_stmt* prepared = nullptr;
  sqlite3_prepare_v2(db.handle(), sql.c_str(), -1, &prepared, nullptr);
  const std::unique_ptr<sqlite3_stmt, decltype(&sqlite3_finalize)> statement(prepared,
                                                                             sqlite3_finalize);
  std::vector<SqlType> types;
  for (int i = 0; i < sqlite3_column_count(prepared); ++i) {
    const char* const declared = sqlite3_column_decltype(prepared, i);
    types.push_back(declared == nullptr ? SqlType::kNull : TypeOf(declared));
  }
  return types;
}

}  // namespace tracedb
