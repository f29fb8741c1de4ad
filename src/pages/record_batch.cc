#include "pages/record_batch.h"

#include <sqlite3.h>

#include <bit>
#include <cassert>
#include <cstddef>
#include <memory>
#include <new>
#include <string>

namespace tracedb {
namespace {

// SQLite's serial types that are not integers of some width.
constexpr uint64_t kRealType = 7;
constexpr uint64_t kZeroType = 8;
constexpr uint64_t kOneType = 9;
constexpr uint64_t kFirstBlobType = 12;  // even: a blob; odd: a text

const uint8_t* ReadVarint(const uint8_t* from, uint64_t& value) {
  value = 0;
  for (int i = 0; i < 8; ++i) {
    value = value << 7 | (*from & 0x7f);
    if ((*from++ & 0x80) == 0) return from;
  }
  value = value << 8 | *from++;
  return from;
}

size_t ValueBytes(uint64_t type) {
  constexpr uint8_t kBytes[kFirstBlobType] = {0, 1, 2, 3, 4, 6, 8, 8, 0, 0, 0, 0};
  return type < kFirstBlobType ? kBytes[type] : static_cast<size_t>(type - kFirstBlobType) / 2;
}

// Big-endian, with a sign.
int64_t ReadInt(const uint8_t* from, size_t bytes) {
  uint64_t value = (*from & 0x80) != 0 ? ~uint64_t{0} : 0;
  for (size_t i = 0; i < bytes; ++i) value = value << 8 | from[i];
  return static_cast<int64_t>(value);
}

// One record's values, column after column.
class RecordReader {
 public:
  void Start(const uint8_t* record) {
    record_ = record;
    uint64_t header_bytes = 0;
    type_ = ReadVarint(record, header_bytes);
    body_ = record + header_bytes;
    types_end_ = body_;
    column_ = 0;
  }

  void Give(sqlite3_context* context, int column) {
    if (column < column_) Start(record_);
    for (; type_ < types_end_; ++column_) {
      uint64_t type = 0;
      type_ = ReadVarint(type_, type);
      const uint8_t* const value = body_;
      body_ += ValueBytes(type);
      if (column_ < column) continue;
      ++column_;
      return GiveValue(context, type, value);
    }
    // The record ends before this column: NULL, which is what a result is unless set.
  }

 private:
  static void GiveValue(sqlite3_context* context, uint64_t type, const uint8_t* value) {
    const size_t bytes = ValueBytes(type);
    if (type >= kFirstBlobType && type % 2 != 0) {
      sqlite3_result_text64(context, reinterpret_cast<const char*>(value), bytes, SQLITE_STATIC,
                            SQLITE_UTF8);
    } else if (type >= kFirstBlobType) {
      sqlite3_result_blob64(context, value, bytes, SQLITE_STATIC);
    } else if (type == kRealType) {
      const auto bits = static_cast<uint64_t>(ReadInt(value, bytes));
      sqlite3_result_double(context, std::bit_cast<double>(bits));
    } else if (type == kZeroType || type == kOneType) {
      sqlite3_result_int64(context, static_cast<int64_t>(type - kZeroType));
    } else if (bytes > 0) {
      sqlite3_result_int64(context, ReadInt(value, bytes));
    } else {
      assert(type == 0);
    }
  }

  const uint8_t* record_ = nullptr;
  const uint8_t* type_ = nullptr;  // of the next column
  const uint8_t* types_end_ = nullptr;
  const uint8_t* body_ = nullptr;  // the next column's value
  int column_ = 0;                 // the next one
};

// What the connection keeps of the table.
struct BatchModule {
  const RecordBatch* batch;
  int columns;
};

// SQLite hands back pointers to the bases.
struct BatchTable : sqlite3_vtab {
  const RecordBatch* batch = nullptr;
};
struct BatchCursor : sqlite3_vtab_cursor {
  std::span<const BatchRow> rows;
  size_t row = 0;
  RecordReader reader;

  void GoTo(size_t number) {
    row = number;
    if (row < rows.size()) reader.Start(rows[row].record);
  }
};

BatchCursor& CursorOf(sqlite3_vtab_cursor* cursor) { return *static_cast<BatchCursor*>(cursor); }

// Called from C: no exception may leave these.
int Connect(sqlite3* db, void* data, int, const char* const*, sqlite3_vtab** table, char**) {
  const auto& module = *static_cast<const BatchModule*>(data);
  std::string sql = "CREATE TABLE x(c0";
  for (int i = 1; i < module.columns; ++i) sql += ",c" + std::to_string(i);
  const int code = sqlite3_declare_vtab(db, (sql + ")").c_str());
  if (code != SQLITE_OK) return code;
  std::unique_ptr<BatchTable> made(new (std::nothrow) BatchTable);
  if (made == nullptr) return SQLITE_NOMEM;
  made->batch = module.batch;
  *table = made.release();
  return SQLITE_OK;
}

int Disconnect(sqlite3_vtab* table) {
  std::unique_ptr<BatchTable>(static_cast<BatchTable*>(table)).reset();
  return SQLITE_OK;
}

int BestIndex(sqlite3_vtab*, sqlite3_index_info*) { return SQLITE_OK; }

int Open(sqlite3_vtab*, sqlite3_vtab_cursor** cursor) {
  std::unique_ptr<BatchCursor> made(new (std::nothrow) BatchCursor);
  if (made == nullptr) return SQLITE_NOMEM;
  *cursor = made.release();
  return SQLITE_OK;
}

int Close(sqlite3_vtab_cursor* cursor) {
  std::unique_ptr<BatchCursor>(static_cast<BatchCursor*>(cursor)).reset();
  return SQLITE_OK;
}

int Filter(sqlite3_vtab_cursor* cursor, int, const char*, int, sqlite3_value**) {
  BatchCursor& at = CursorOf(cursor);
  at.rows = static_cast<BatchTable*>(cursor->pVtab)->batch->rows;
  at.GoTo(0);
  return SQLITE_OK;
}

int Next(sqlite3_vtab_cursor* cursor) {
  BatchCursor& at = CursorOf(cursor);
  at.GoTo(at.row + 1);
  return SQLITE_OK;
}

int Eof(sqlite3_vtab_cursor* cursor) {
  return CursorOf(cursor).row < CursorOf(cursor).rows.size() ? 0 : 1;
}

int Column(sqlite3_vtab_cursor* cursor, sqlite3_context* context, int column) {
  CursorOf(cursor).reader.Give(context, column);
  return SQLITE_OK;
}

int Rowid(sqlite3_vtab_cursor* cursor, sqlite3_int64* rowid) {
  *rowid = CursorOf(cursor).rows[CursorOf(cursor).row].rowid;
  return SQLITE_OK;
}

// Without xCreate it is there under its own name, and no CREATE VIRTUAL TABLE can make another.
constexpr sqlite3_module kModule = [] {
  sqlite3_module module{};
  module.xConnect = Connect;
  module.xBestIndex = BestIndex;
  module.xDisconnect = Disconnect;
  module.xOpen = Open;
  module.xClose = Close;
  module.xFilter = Filter;
  module.xNext = Next;
  module.xEof = Eof;
  module.xColumn = Column;
  module.xRowid = Rowid;
  return module;
}();

void FreeModule(void* data) {
  std::unique_ptr<BatchModule>(static_cast<BatchModule*>(data)).reset();
}

}  // namespace

Status RegisterRecordBatch(SqliteDb& db, int columns, const RecordBatch& batch) {
  // SQLite frees it, also when it fails.
  auto data = std::make_unique<BatchModule>(BatchModule{&batch, columns});
  const int code =
      sqlite3_create_module_v2(db.handle(), kRecordBatchName, &kModule, data.release(), FreeModule);
  if (code != SQLITE_OK) return SqliteError(db.handle(), db.path().string());
  return Done{};
}

}  // namespace tracedb
