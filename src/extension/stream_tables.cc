#include "tracedb/extension/stream_tables.h"

#include <sqlite3.h>

#include <array>
#include <new>
#include <optional>
#include <string>
#include <utility>

#include "extension/stream_rows.h"
#include "extension/table_function.h"
#include "tracedb/base/run_caught.h"

namespace tracedb {
namespace {

constexpr int kArguments = 3;  // stream_id, from_ns, piece_ns

// How rows of a kind are a table.
struct PiecesTable {
  using Rows = StreamPieces;
  static constexpr const char* kName = "stream_pieces";
  static constexpr const char* kDeclared =
      "CREATE TABLE x(kind INTEGER, piece INTEGER, first_ns INTEGER, last_ns INTEGER, "
      "activities INTEGER, sum_ns INTEGER, longest_name_id INTEGER, "
      "stream_id HIDDEN, from_ns HIDDEN, piece_ns HIDDEN)";
  static constexpr int kColumns = 7;
  static std::array<int64_t, kColumns> Values(const StreamPiece& row) {
    return {row.kind,       row.piece,  row.first_ns,    row.last_ns,
            row.activities, row.sum_ns, row.longest_name};
  }
};

struct BusyTable {
  using Rows = StreamBusy;
  static constexpr const char* kName = "stream_busy";
  static constexpr const char* kDeclared =
      "CREATE TABLE x(piece INTEGER, busy_ns INTEGER, "
      "stream_id HIDDEN, from_ns HIDDEN, piece_ns HIDDEN)";
  static constexpr int kColumns = 2;
  static std::array<int64_t, kColumns> Values(const StreamBusyPiece& row) {
    return {row.piece, row.busy_ns};
  }
};

struct StreamTable {
  sqlite3_vtab base;
  sqlite3* db;
};

template <typename Table>
struct Module {
  struct Cursor {
    sqlite3_vtab_cursor base;
    SqliteDb db;
    std::optional<typename Table::Rows> rows;  // none: at the end
    int64_t row = 0;
    std::array<int64_t, kArguments> arguments{};

    Status Advance() {
      ++row;
      TRACEDB_ASSIGN(any, rows->Next());
      if (!any) rows.reset();
      return Done{};
    }
  };

  static Cursor* Of(sqlite3_vtab_cursor* base) { return reinterpret_cast<Cursor*>(base); }

  static int Connect(sqlite3* db, void*, int, const char* const*, sqlite3_vtab** made, char**) {
    int code = sqlite3_declare_vtab(db, Table::kDeclared);
    // No view may name it: it reads views, and in one of a damaged database would read itself.
    if (code == SQLITE_OK) code = sqlite3_vtab_config(db, SQLITE_VTAB_DIRECTONLY);
    if (code != SQLITE_OK) return code;
    auto* table = new (std::nothrow) StreamTable{{}, db};
    if (table == nullptr) return SQLITE_NOMEM;
    *made = &table->base;
    return SQLITE_OK;
  }

  static int Disconnect(sqlite3_vtab* table) {
    delete reinterpret_cast<StreamTable*>(table);
    return SQLITE_OK;
  }

  static int BestIndex(sqlite3_vtab*, sqlite3_index_info* info) {
    info->estimatedCost = 1e6;
    info->estimatedRows = 1000;
    return TakeArguments(info, Table::kColumns, kArguments);
  }

  static int Open(sqlite3_vtab* table, sqlite3_vtab_cursor** made) {
    auto* cursor = new (std::nothrow) Cursor{
        {}, SqliteDb::Borrow(reinterpret_cast<StreamTable*>(table)->db), std::nullopt, 0, {}};
    if (cursor == nullptr) return SQLITE_NOMEM;
    *made = &cursor->base;
    return SQLITE_OK;
  }

  static int Close(sqlite3_vtab_cursor* base) {
    delete Of(base);
    return SQLITE_OK;
  }

  static Status Ask(Cursor& cursor, int given, int count, sqlite3_value** values) {
    cursor.rows.reset();
    cursor.row = 0;
    const bool has_all = given == (1 << kArguments) - 1 && count == kArguments;
    if (!has_all || sqlite3_value_int64(values[2]) < 1) {
      return Error{ErrorKind::kUsage,
                   std::string("a stream and pieces of 1 ns or more are wanted: ") + Table::kName +
                       "(stream_id, from_ns, piece_ns)",
                   ""};
    }
    for (size_t i = 0; i < cursor.arguments.size(); ++i) {
      cursor.arguments[i] = sqlite3_value_int64(values[i]);
    }
    const PieceFrame frame{cursor.arguments[1], cursor.arguments[2]};
    TRACEDB_ASSIGN(opened, Table::Rows::Open(cursor.db, cursor.arguments[0], frame));
    cursor.rows.emplace(std::move(opened));
    return cursor.Advance();
  }

  static int Filter(sqlite3_vtab_cursor* base, int given, const char*, int count,
                    sqlite3_value** values) {
    return TableCode(RunCaught([&] { return Ask(*Of(base), given, count, values); }), base);
  }

  static int Next(sqlite3_vtab_cursor* base) {
    return TableCode(RunCaught([&]() -> Status { return Of(base)->Advance(); }), base);
  }

  static int Eof(sqlite3_vtab_cursor* base) { return Of(base)->rows.has_value() ? 0 : 1; }

  static int GiveColumn(sqlite3_vtab_cursor* base, sqlite3_context* context, int column) {
    const Cursor& cursor = *Of(base);
    const auto place = static_cast<size_t>(column);
    sqlite3_result_int64(context, column < Table::kColumns
                                      ? Table::Values(cursor.rows->row())[place]
                                      : cursor.arguments[place - Table::kColumns]);
    return SQLITE_OK;
  }

  static int GiveRowId(sqlite3_vtab_cursor* base, sqlite3_int64* id) {
    *id = Of(base)->row;
    return SQLITE_OK;
  }

  static constexpr sqlite3_module Made() {
    sqlite3_module module{};
    module.xConnect = Connect;
    module.xBestIndex = BestIndex;
    module.xDisconnect = Disconnect;
    module.xOpen = Open;
    module.xClose = Close;
    module.xFilter = Filter;
    module.xNext = Next;
    module.xEof = Eof;
    module.xColumn = GiveColumn;
    module.xRowid = GiveRowId;
    return module;
  }
};

template <typename Table>
Status Register(SqliteDb& db) {
  static constexpr sqlite3_module kModule = Module<Table>::Made();
  if (sqlite3_create_module_v2(db.handle(), Table::kName, &kModule, nullptr, nullptr) !=
      SQLITE_OK) {
    return SqliteError(db.handle(), "");
  }
  return Done{};
}

}  // namespace

Status RegisterStreamTables(SqliteDb& db) {
  TRACEDB_TRY(Register<PiecesTable>(db));
  return Register<BusyTable>(db);
}

}  // namespace tracedb
