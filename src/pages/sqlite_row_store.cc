#include "pages/sqlite_row_store.h"

#include <algorithm>
#include <cstring>
#include <optional>
#include <utility>

#include "pages/record_batch.h"
#include "tracedb/base/sqlite_db.h"

namespace tracedb {
namespace {

// Rows of all tables together; enough that starting a statement no longer counts.
constexpr size_t kBatchBytes = size_t{1} << 20;
constexpr size_t kBatchRows = 8192;

std::string Quoted(std::string_view name) {
  std::string quoted = "\"";
  for (const char c : name) quoted.append(c == '"' ? 2 : 1, c);
  return quoted + '"';
}

struct InsertSql {
  std::string sql;
  int columns = 0;  // of the table
};

// A column that is the rowid's other name has no value of its own.
Result<InsertSql> InsertSqlFor(SqliteDb& db, const std::string& table) {
  TRACEDB_ASSIGN(columns, db.Prepare("SELECT name, upper(type) = 'INTEGER' AND pk = 1 AND "
                                     "max(pk) OVER () = 1 FROM pragma_table_info(?1) "
                                     "ORDER BY cid"));
  TRACEDB_TRY(columns.Bind(1, std::string_view(table)));
  std::string into = "rowid";
  std::string from = "rowid";
  InsertSql insert;
  for (;; ++insert.columns) {
    TRACEDB_ASSIGN(row, columns.Step());
    if (!row) break;
    if (columns.Int(1) != 0) continue;
    into += ", " + Quoted(columns.Text(0));
    from += ", c" + std::to_string(insert.columns);
  }
  if (insert.columns == 0) {
    return Error{ErrorKind::kOutput, db.path().string() + ": has no table " + table, ""};
  }
  insert.sql = "INSERT INTO main." + Quoted(table) + "(" + into + ") SELECT " + from + " FROM " +
               kRecordBatchName;
  return insert;
}

class SqliteRowStore final : public RowStore {
 public:
  explicit SqliteRowStore(SqliteDb db)
      : bytes_(std::make_unique_for_overwrite<uint8_t[]>(kBatchBytes)), db_(std::move(db)) {}

  Status Begin(const std::vector<std::string>& tables, int64_t cache_kib);
  Status Append(size_t table, int64_t rowid, std::span<const uint8_t> record) override;
  Status Finish() override;

 private:
  struct Table {
    SqliteStatement insert;
    std::vector<BatchRow> rows;
  };

  Status Flush();
  Status Insert(Table& table, std::span<const BatchRow> rows);

  std::unique_ptr<uint8_t[]> bytes_;  // the records of all tables' rows
  size_t bytes_used_ = 0;
  size_t row_count_ = 0;
  RecordBatch batch_;  // what an INSERT reads; before db_, which knows its address
  SqliteDb db_;
  std::vector<Table> tables_;
  std::optional<Error> failure_;  // the first one; nothing is written after it
};

Status SqliteRowStore::Begin(const std::vector<std::string>& tables, int64_t cache_kib) {
  TRACEDB_TRY(
      db_.Execute("PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF;"
                  "PRAGMA locking_mode = EXCLUSIVE; PRAGMA cache_size = -" +
                  std::to_string(cache_kib) + "; BEGIN"));
  std::vector<InsertSql> inserts;
  int columns = 0;
  for (const std::string& table : tables) {
    TRACEDB_ASSIGN(insert, InsertSqlFor(db_, table));
    columns = std::max(columns, insert.columns);
    inserts.push_back(std::move(insert));
  }
  TRACEDB_TRY(RegisterRecordBatch(db_, columns, batch_));
  for (const InsertSql& insert : inserts) {
    TRACEDB_ASSIGN(statement, db_.Prepare(insert.sql));
    tables_.push_back({std::move(statement), {}});
  }
  return Done{};
}

Status SqliteRowStore::Append(size_t table, int64_t rowid, std::span<const uint8_t> record) {
  const bool is_full = bytes_used_ + record.size() > kBatchBytes || row_count_ == kBatchRows;
  if (is_full) TRACEDB_TRY(Flush());
  if (record.size() > kBatchBytes) {
    const BatchRow row{rowid, record.data()};
    return Insert(tables_[table], {&row, 1});
  }
  uint8_t* const copy = bytes_.get() + bytes_used_;
  std::memcpy(copy, record.data(), record.size());
  tables_[table].rows.push_back({rowid, copy});
  bytes_used_ += record.size();
  ++row_count_;
  return Done{};
}

Status SqliteRowStore::Flush() {
  for (Table& table : tables_) {
    if (table.rows.empty()) continue;
    TRACEDB_TRY(Insert(table, table.rows));
    table.rows.clear();
  }
  bytes_used_ = 0;
  row_count_ = 0;
  return Done{};
}

Status SqliteRowStore::Insert(Table& table, std::span<const BatchRow> rows) {
  if (failure_) return *failure_;
  batch_.rows = rows;
  if (!table.insert.Run().ok()) {
    failure_ = SqliteError(db_.handle(), db_.path().string());
    return *failure_;
  }
  return Done{};
}

Status SqliteRowStore::Finish() {
  TRACEDB_TRY(Flush());
  tables_.clear();
  return db_.Execute("COMMIT");
}

}  // namespace

Result<std::unique_ptr<RowStore>> OpenSqliteRowStore(const std::filesystem::path& path,
                                                     const std::vector<std::string>& tables,
                                                     int64_t cache_kib) {
  TRACEDB_ASSIGN(db, SqliteDb::Open(path, SqliteMode::kReadWrite));
  auto store = std::make_unique<SqliteRowStore>(std::move(db));
  TRACEDB_TRY(store->Begin(tables, cache_kib));
  return std::unique_ptr<RowStore>(std::move(store));
}

}  // namespace tracedb
