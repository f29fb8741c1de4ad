#include "database_edits.h"

#include <sqlite3.h>

#include <algorithm>
#include <array>
#include <fstream>
#include <iterator>
#include <utility>
#include <vector>

#include "tracedb/pages/page_bytes.h"

namespace tracedb {
namespace {

struct Edit {
  uint8_t what, which;
  uint32_t page, at, value;
};

Edit ReadEdit(const uint8_t* bytes) {
  return {bytes[0], bytes[1], GetU16(bytes + 2), GetU16(bytes + 4), GetU16(bytes + 6)};
}

using Bytes = std::vector<uint8_t>;

// The pages of a database in memory.
class PageEdits {
 public:
  explicit PageEdits(Bytes& bytes) : bytes_(bytes) {
    const uint32_t size = bytes.size() >= 100 ? GetU16(&bytes[16]) : 0;
    page_bytes_ = size == 1 ? 65536 : std::max<size_t>(size, 512);
    pages_ = bytes.size() / page_bytes_;
  }

  void Apply(const Edit& edit) {
    if (pages_ < 3) return;
    const size_t page = (edit.page % pages_) * page_bytes_;
    const size_t head = page == 0 ? 100 : page;
    switch (edit.what % kWays) {
      case 0:  // any byte
        bytes_[page + edit.at % page_bytes_] = static_cast<uint8_t>(edit.value);
        break;
      case 1:  // of a page's header
        bytes_[head + edit.at % 12] = static_cast<uint8_t>(edit.value);
        break;
      case 2:  // a cell's place
        PutU16(&bytes_[head + 8 + edit.at % 64], edit.value);
        break;
      case 3:  // the rightmost child, near to the pages that there are
        PutU32(&bytes_[head + 8], static_cast<uint32_t>(edit.value % (pages_ + 3)));
        break;
      case 4:  // a child within
        PutU32(&bytes_[page + CellOf(head, edit.at)],
               static_cast<uint32_t>(edit.value % (pages_ + 3)));
        break;
      case 5: {  // swapped with another, or written over it
        const size_t other = (edit.value % pages_) * page_bytes_;
        if (page == 0 || other == 0) break;
        for (size_t i = 0; i < page_bytes_; ++i) {
          if (edit.which % 2 == 0) std::swap(bytes_[page + i], bytes_[other + i]);
          if (edit.which % 2 == 1) bytes_[page + i] = bytes_[other + i];
        }
        break;
      }
      case 6:
        std::fill_n(bytes_.begin() + static_cast<ptrdiff_t>(page), page_bytes_, uint8_t{0});
        break;
      case 7:  // the database's header
        bytes_[16 + edit.at % 84] = static_cast<uint8_t>(edit.value);
        break;
      case 8:  // a list of free pages
        PutU32(&bytes_[32], static_cast<uint32_t>(page / page_bytes_ + 1));
        PutU32(&bytes_[36], edit.value);
        PutU32(&bytes_[page], edit.at);
        PutU32(&bytes_[page + 4], edit.which);
        break;
      default:  // the first number of a page that overflows
        PutU32(&bytes_[page], static_cast<uint32_t>(edit.value % (pages_ + 3)));
    }
  }

  static constexpr int kWays = 10;

 private:
  // Where in its page the n-th cell begins, with room for four bytes.
  size_t CellOf(size_t head, uint32_t n) const {
    return std::min<size_t>(GetU16(&bytes_[head + 12 + 2 * (n % 16)]), page_bytes_ - 4);
  }

  Bytes& bytes_;
  size_t page_bytes_ = 0;
  size_t pages_ = 0;
};

constexpr std::array<const char*, 21> kTables = {
    "_cpu_slice", "_runtime_slice", "_python_slice", "_gpu_slice",  "_instant",
    "_flow",      "_counter_event", "_args_text",    "_event_name", "_track",
    "_trace",     "_run",           "_capture",      "_step",       "_launch",
    "_call_path", "_host_use",      "_step_use",     "_clock",      "_collective_part",
    "_row_times"};

constexpr std::array<const char*, 24> kValues = {"NULL",
                                                 "0",
                                                 "-1",
                                                 "1",
                                                 "9223372036854775807",
                                                 "-9223372036854775807 - 1",
                                                 "4611686018427387904",
                                                 "1.5",
                                                 "9e999",
                                                 "-9e999",
                                                 "'text'",
                                                 "''",
                                                 "x'ff'",
                                                 "CAST(x'c328' AS TEXT)",
                                                 "char(0)",
                                                 "'a' || char(0) || 'b'",
                                                 "char(2)",
                                                 "char(15)",
                                                 "'{'",
                                                 "'}'",
                                                 "'\"'",
                                                 "'\\'",
                                                 "',\"a\":1},{'",
                                                 "'[1,2]'"};

// The n-th column of a table, as SQL names it; empty where there is none.
std::string ColumnOf(sqlite3* db, const std::string& table, uint32_t n) {
  sqlite3_stmt* rows = nullptr;
  std::string name;
  const std::string sql = "SELECT name FROM pragma_table_info('" + table + "') ORDER BY (cid + " +
                          std::to_string(n) + ") % 32 LIMIT 1";
  if (sqlite3_prepare_v2(db, sql.c_str(), -1, &rows, nullptr) == SQLITE_OK &&
      sqlite3_step(rows) == SQLITE_ROW) {
    name = reinterpret_cast<const char*>(sqlite3_column_text(rows, 0));
  }
  sqlite3_finalize(rows);
  return name;
}

std::string RowSql(sqlite3* db, const Edit& edit) {
  const std::string table = kTables[edit.which % kTables.size()];
  const std::string other = kTables[edit.value % kTables.size()];
  const std::string only =
      edit.page == 0 ? "" : " WHERE rowid % " + std::to_string(edit.page % 97 + 1) + " = 0";
  const std::string column = ColumnOf(db, table, edit.at % 32);
  const std::string value = kValues[edit.value % kValues.size()];
  switch (edit.what % 8) {
    case 0:
    case 1:
    case 2:
      return "UPDATE " + table + " SET " + column + " = " + value + only;
    case 3:
      return "UPDATE " + table + " SET " + column + " = " + column + " || " + value + only;
    case 4:
      return "DELETE FROM " + table + only;
    case 5:
      return "UPDATE _args_text SET args = substr(args, 1, " + std::to_string(edit.at % 64) +
             ") || " + value + " || substr(args, " + std::to_string(edit.at % 64 + 1) + ")" + only;
    case 6:
      return "UPDATE sqlite_schema SET rootpage = (SELECT rootpage FROM sqlite_schema WHERE name = "
             "'" +
             other + "') WHERE name = '" + table + "'";
    default:
      return edit.at % 2 == 0
                 ? "UPDATE sqlite_schema SET rootpage = " + value + " WHERE name = '" + table + "'"
                 : "DELETE FROM sqlite_schema WHERE tbl_name = '" + table + "'";
  }
}

void EditRows(const std::string& file, std::span<const Edit> edits) {
  sqlite3* db = nullptr;
  if (sqlite3_open(file.c_str(), &db) == SQLITE_OK) {
    sqlite3_exec(db,
                 "PRAGMA synchronous = OFF; PRAGMA journal_mode = OFF; "
                 "PRAGMA writable_schema = ON",
                 nullptr, nullptr, nullptr);
    for (const Edit& edit : edits) {
      sqlite3_exec(db, RowSql(db, edit).c_str(), nullptr, nullptr, nullptr);
    }
  }
  sqlite3_close(db);
}

}  // namespace

void EditDatabase(const std::string& file, std::span<const uint8_t> edits) {
  constexpr size_t kEditsMax = 16;
  std::vector<Edit> of_pages, of_rows;
  for (size_t i = 0; i + kEditBytes <= std::min(edits.size(), kEditsMax * kEditBytes);
       i += kEditBytes) {
    const Edit edit = ReadEdit(&edits[i]);
    (edit.what < 128 ? of_pages : of_rows).push_back(edit);
  }
  // Rows first: of pages that are damaged SQLite would refuse to change any.
  if (!of_rows.empty()) EditRows(file, of_rows);
  if (of_pages.empty()) return;
  std::ifstream in(file, std::ios::binary);
  Bytes bytes((std::istreambuf_iterator<char>(in)), {});
  PageEdits pages(bytes);
  for (const Edit& edit : of_pages) pages.Apply(edit);
  std::ofstream(file, std::ios::binary | std::ios::trunc)
      .write(reinterpret_cast<const char*>(bytes.data()),
             static_cast<std::streamsize>(bytes.size()));
}

}  // namespace tracedb
