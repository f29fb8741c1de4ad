#include "tracedb/base/declared_types.h"

#include <sqlite3.h>

#include <memory>
#include <string_view>

namespace tracedb {
namespace {

// By SQLite's rules of affinity; our schema writes its types in capitals.
SqlType TypeOf(std::string_view declared) {
  if (declared.find("INT") != std::string_view::npos) return SqlType::kInteger;
  return declared == "REAL" ? SqlType::kReal : SqlType::kNull;
}

}  // namespace

std::vector<SqlType> DeclaredTypes(SqliteDb& db, const std::string& sql) {
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
