#include "tracedb/query/run/opened_tables.h"

#include <algorithm>
#include <map>

namespace tracedb {
namespace {

// By the page on which each of them and its indexes begins.
Result<std::map<int64_t, std::string>> TableRoots(SqliteDb& db) {
  std::map<int64_t, std::string> roots;
  TRACEDB_ASSIGN(rows, db.Prepare("SELECT rootpage, tbl_name FROM main.sqlite_schema "
                                  "WHERE rootpage > 0"));
  for (;;) {
    TRACEDB_ASSIGN(row, rows.Step());
    if (!row) return roots;
    roots.emplace(rows.Int(0), rows.Text(1));
  }
}

}  // namespace

Result<std::set<std::string>> OpenedTables(SqliteDb& db, std::string_view sql,
                                           std::string_view* next) {
  TRACEDB_ASSIGN(roots, TableRoots(db));
  const std::string explain = "EXPLAIN " + std::string(sql);
  std::string_view rest;
  TRACEDB_ASSIGN(plan, db.Prepare(explain, &rest));
  if (next != nullptr) *next = sql.substr(sql.size() - std::min(rest.size(), sql.size()));
  std::set<std::string> tables;
  for (;;) {
    TRACEDB_ASSIGN(row, plan.Step());
    if (!row) return tables;
    const std::string_view opcode = plan.Text(1);
    const bool opens = opcode == "OpenRead" || opcode == "ReopenIdx";
    if (!opens || plan.Int(4) != 0) continue;
    const auto root = roots.find(plan.Int(3));
    if (root != roots.end()) tables.insert(root->second);
  }
}

}  // namespace tracedb
