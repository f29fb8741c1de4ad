// Any bytes as a file of each kind that is no trace: its first byte says which reader reads the
// rest. The rows must be the same whatever the blocks in which the text is read, and Fits() must
// bear anything.

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "memory_folder.h"
#include "tracedb/base/sqlite_db.h"
#include "tracedb/pages/row_store.h"
#include "tracedb/schema/schema_sql.h"
#include "tracedb/sources/source_readers.h"

namespace {

using namespace tracedb;
namespace fs = std::filesystem;

[[noreturn]] void Fail(const std::string& what) {
  std::fprintf(stderr, "%s\n", what.c_str());
  std::abort();
}

// All rows of all tables of sources.
std::string DumpOf(SqliteDb& db) {
  std::string dump;
  auto tables = db.Prepare(
      "SELECT t.name FROM sqlite_schema t WHERE t.type = 'table' AND EXISTS (SELECT 1 FROM "
      "pragma_table_info(t.name) c WHERE c.name = 'source_id') ORDER BY 1");
  if (!tables.ok()) Fail(tables.error().what);
  for (;;) {
    auto table = tables.value().Step();
    if (!table.ok()) Fail(table.error().what);
    if (!table.value()) return dump;
    const std::string name(tables.value().Text(0));
    dump += name + "\n";
    auto rows = db.Prepare("SELECT * FROM " + name);
    if (!rows.ok()) Fail(rows.error().what);
    for (;;) {
      auto row = rows.value().Step();
      if (!row.ok()) Fail(row.error().what);
      if (!row.value()) break;
      for (int i = 0; i < rows.value().ColumnCount(); ++i) {
        dump += std::string(rows.value().Text(i)) + '\x1f';
      }
      dump += '\n';
    }
  }
}

Result<std::vector<uint32_t>> RootsOf(SqliteDb& db, std::span<const std::string_view> tables) {
  std::vector<uint32_t> roots;
  for (const std::string_view table : tables) {
    TRACEDB_ASSIGN(root, db.Integer("SELECT rootpage FROM sqlite_schema WHERE name = '" +
                                    std::string(table) + "'"));
    roots.push_back(static_cast<uint32_t>(root));
  }
  return roots;
}

// Reads `text` into the tables of the database `path`; nothing where the file is refused.
Result<std::string> ReadAll(const SourceReader& reader, SourceText& text, const fs::path& path) {
  const SourceOptions options;
  SourceRows rows{.source_id = 1, .options = options};
  std::ofstream(path, std::ios::trunc).close();
  TRACEDB_ASSIGN(made, SqliteDb::Open(path, SqliteMode::kReadWrite));
  std::optional<SqliteDb> db = std::move(made);
  TRACEDB_TRY(db->Execute("PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; BEGIN;" +
                          TablesSql() + "COMMIT"));
  if (const auto tables = reader.PagedTables(); !tables.empty()) {
    TRACEDB_ASSIGN(roots, RootsOf(*db, tables));
    db.reset();
    TRACEDB_ASSIGN(pages, RowStore::Open(path, roots));
    rows.pages = &pages;
    TRACEDB_TRY(reader.Read(text, rows));
    TRACEDB_TRY(pages.Finish());
    TRACEDB_ASSIGN(again, SqliteDb::Open(path, SqliteMode::kReadOnly));
    db = std::move(again);
  } else {
    rows.db = &*db;
    TRACEDB_TRY(db->Execute("BEGIN"));
    TRACEDB_TRY(reader.Read(text, rows));
  }
  std::string all = DumpOf(*db) + std::to_string(rows.rows) + rows.time_source;
  for (const auto& [kind, entry] : rows.issues.entries()) {
    all += kind + std::to_string(entry.count) + "@" + std::to_string(entry.first_offset);
  }
  return all;
}

std::string RowsOf(const SourceReader& reader, const fs::path& path, size_t block_bytes,
                   bool& is_damaged) {
  auto text = SourceText::Open(path, block_bytes, nullptr);
  if (!text.ok()) return text.error().what;
  const auto all = ReadAll(reader, text.value(), path.parent_path() / "rows.db");
  is_damaged = text.value().damage().has_value();
  // A file may be refused as a whole; what was read of it does not land then.
  if (all.ok()) return all.value();
  if (all.error().kind == ErrorKind::kOutput) Fail(all.error().what);
  return all.error().what;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static const MemoryFolder folder("fuzz_sources");
  if (size < 2) return 0;
  const std::string_view text(reinterpret_cast<const char*>(data) + 1, size - 1);
  (void)TellSource({text.substr(0, SourceHead::kBytesMax), true, "log.txt"});
  const auto readers = SourceReaders();
  if (readers.empty()) return 0;
  const SourceReader& reader = *readers[data[0] % readers.size()];
  const fs::path path = folder.path() / "file";
  std::ofstream(path, std::ios::binary | std::ios::trunc) << text;
  bool is_damaged = false;
  const std::string whole = RowsOf(reader, path, 0, is_damaged);
  // How much ISA-L gives of a stream before it sees its damage depends on the pieces that it gets;
  // the program always reads with the same ones.
  if (RowsOf(reader, path, 1 + size / 3, is_damaged) != whole && !is_damaged) {
    Fail(std::string(reader.kind()) + ": other rows when read in blocks");
  }
  return 0;
}
