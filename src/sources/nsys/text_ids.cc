#include "sources/nsys/text_ids.h"

#include <algorithm>

#include "tracedb/json/json_text.h"

namespace tracedb {
namespace {

constexpr size_t kBytesEach = 64;  // of a text, beside its own

Result<bool> HasIndex(SqliteDb& db) {
  TRACEDB_ASSIGN(plan, db.Prepare("EXPLAIN QUERY PLAN SELECT value FROM StringIds WHERE id = 1"));
  TRACEDB_ASSIGN(row, plan.Step());
  constexpr int kDetail = 3;
  return row && plan.Text(kDetail).starts_with("SEARCH");
}

}  // namespace

void AppendJsonInside(std::string& out, std::string_view text) {
  const bool plain = std::all_of(text.begin(), text.end(), [](char c) {
    return c >= ' ' && c <= '~' && c != '"' && c != '\\';
  });
  if (plain) {
    out += text;
    return;
  }
  std::string quoted;
  AppendJsonString(quoted, text);
  out += Unquoted(quoted);
}

Result<TextIds> TextIds::Read(SqliteDb& db, const ExportTables& tables, uint64_t rows_max,
                              size_t bytes_max) {
  TextIds ids;
  if (!tables.Has("StringIds", "id") || !tables.Has("StringIds", "value")) return ids;
  TRACEDB_ASSIGN(rows, db.Prepare("SELECT id, value FROM StringIds"));
  for (uint64_t count = 0; ids.bytes_ < bytes_max; ++count) {
    TRACEDB_ASSIGN(row, StepRow(rows, count, rows_max));
    if (!row) return ids;
    if (rows.Type(0) != SqlType::kInteger || rows.Type(1) == SqlType::kNull) continue;
    std::string text;
    AppendJsonInside(text, rows.Text(1));
    ids.bytes_ += text.size() + kBytesEach;
    ids.texts_.emplace(rows.Int(0), std::move(text));
  }
  TRACEDB_ASSIGN(indexed, HasIndex(db));
  if (!indexed) TRACEDB_TRY(ids.CopyRest(rows, rows_max));
  TRACEDB_ASSIGN(
      look_up,
      (indexed ? db : *ids.copy_).Prepare("SELECT value FROM StringIds WHERE id = ?1 LIMIT 1"));
  ids.look_up_.emplace(std::move(look_up));
  return ids;
}

// Those that are not in memory, which `rows` has not come to.
Status TextIds::CopyRest(SqliteStatement& rows, uint64_t rows_max) {
  TRACEDB_ASSIGN(copy, SqliteDb::OpenInMemory());
  copy_.emplace(std::move(copy));
  TRACEDB_TRY(
      copy_->Execute("PRAGMA journal_mode = OFF; PRAGMA cache_size = -2048;"
                     "CREATE TABLE StringIds (id INTEGER PRIMARY KEY, value); BEGIN"));
  TRACEDB_ASSIGN(insert, copy_->Prepare("INSERT OR IGNORE INTO StringIds VALUES (?1, ?2)"));
  for (uint64_t count = 0;; ++count) {
    TRACEDB_ASSIGN(row, StepRow(rows, count, rows_max));
    if (!row) break;
    if (rows.Type(0) != SqlType::kInteger || rows.Type(1) == SqlType::kNull) continue;
    TRACEDB_TRY(insert.Bind(1, rows.Int(0)));
    TRACEDB_TRY(insert.Bind(2, rows.Text(1)));
    TRACEDB_TRY(insert.Run());
  }
  return copy_->Execute("COMMIT");
}

const std::string* TextIds::Find(int64_t id) {
  const auto found = texts_.find(id);
  if (found != texts_.end()) return &found->second;
  if (!look_up_.has_value()) return nullptr;
  look_up_->Reset();
  const auto row = LookUp(id);
  if (!row.ok() && status_.ok()) status_ = row.error();
  return row.ok() && row.value() ? &found_ : nullptr;
}

Result<bool> TextIds::LookUp(int64_t id) {
  TRACEDB_TRY(look_up_->Bind(1, id));
  TRACEDB_ASSIGN(row, look_up_->Step());
  if (!row) return false;
  found_.clear();
  AppendJsonInside(found_, look_up_->Text(0));
  return true;
}

}  // namespace tracedb
