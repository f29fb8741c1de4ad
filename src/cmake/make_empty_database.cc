// Run while the program is built: has SQLite make an empty database, and writes as a header its
// file's bytes, the pages of shorter schemas for it, its trees, the views and the rules.
//
//   make_empty_database HEADER

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "tracedb/base/sqlite_db.h"
#include "tracedb/schema/empty_database.h"
#include "tracedb/schema/schema_sql.h"

namespace tracedb {
namespace {

// What a trace has rows in, and is asked for through SQLite before they are added to a database.
constexpr const char* kTraceRowTables =
    "'_cpu_slice', '_runtime_slice', '_python_slice', '_gpu_slice', '_instant', '_flow', "
    "'_counter_event', '_metadata_event', '_trace', '_run', '_capture', '_event_name', '_track', "
    "'_args_text', '_step', '_row_times', "
    "'_impossible_time', '_launch', '_call_path', '_host_use', '_kernel_use', '_sync_use', "
    "'_step_use', '_busy_segment', '_device_use', '_stream_use', '_process_group', '_trace_group', "
    "'_collective_part', '_graph_capture', '_captured_launch', '_captured_call', '_graph_launch', "
    "'_process', '_thread', '_issue', '_memory_piece', '_source'";

// As SQLite would store the views of ViewsSql(), which it takes long to work out.
Status AddViews(SqliteDb& db) {
  TRACEDB_TRY(db.Execute("PRAGMA writable_schema = ON"));
  TRACEDB_ASSIGN(insert, db.Prepare("INSERT INTO sqlite_schema (type, name, tbl_name, rootpage, "
                                    "sql) VALUES ('view', ?1, ?1, 0, ?2)"));
  for (const ViewRow& view : ViewRows()) {
    TRACEDB_TRY(insert.Bind(1, std::string_view(view.name)));
    TRACEDB_TRY(insert.Bind(2, std::string_view(view.sql)));
    TRACEDB_TRY(insert.Run());
  }
  return Done{};
}

Result<SqliteDb> MakeEmpty() {
  TRACEDB_ASSIGN(db, SqliteDb::OpenInMemory());
  TRACEDB_TRY(db.Execute("PRAGMA page_size = " + std::to_string(EmptyDatabase::kPageBytes) +
                         "; PRAGMA journal_mode = OFF; PRAGMA auto_vacuum = NONE; BEGIN"));
  TRACEDB_TRY(db.Execute(TablesSql()));
  TRACEDB_TRY(AddViews(db));
  TRACEDB_TRY(db.Execute("COMMIT"));
  return db;
}

Result<std::string> FileOf(SqliteDb& db) {
  TRACEDB_ASSIGN(bytes, db.Bytes());
  return std::string(bytes.begin(), bytes.end());
}

// SQLite's file format: the header of the first page, and what is where in a page of a tree.
constexpr size_t kHeaderBytes = 100;
constexpr uint8_t kInteriorTable = 5;
constexpr size_t kCellCountAt = 3;
constexpr size_t kLastChildAt = 8;
constexpr size_t kInteriorCellsAt = 12;

uint32_t NumberAt(std::string_view bytes, size_t at, size_t count) {
  uint32_t number = 0;
  for (const char c : bytes.substr(at, count)) number = number << 8 | static_cast<uint8_t>(c);
  return number;
}

// The first page's, and of its children, which have none.
std::set<uint32_t> SchemaPages(std::string_view file) {
  std::set<uint32_t> pages = {1};
  const std::string_view tree = file.substr(kHeaderBytes);
  if (static_cast<uint8_t>(tree[0]) != kInteriorTable) return pages;
  pages.insert(NumberAt(tree, kLastChildAt, 4));
  for (uint32_t cell = 0; cell < NumberAt(tree, kCellCountAt, 2); ++cell) {
    pages.insert(NumberAt(file, NumberAt(tree, kInteriorCellsAt + 2 * cell, 2), 4));
  }
  return pages;
}

std::string_view PageOf(std::string_view file, uint32_t page) {
  constexpr size_t kBytes = EmptyDatabase::kPageBytes;
  return file.substr((page - 1) * kBytes, kBytes);
}

// The same database whose schema has only the rows of `which`.
Result<std::string> WithRows(const std::string& which) {
  TRACEDB_ASSIGN(db, MakeEmpty());
  TRACEDB_TRY(db.Execute("PRAGMA writable_schema = ON; DELETE FROM sqlite_schema WHERE NOT (" +
                         which + ")"));
  return FileOf(db);
}

// As a literal of C++, a line for every so many bytes.
void WriteLiteral(std::ostream& out, std::string_view bytes) {
  constexpr size_t kBytesOfLine = 24;
  if (bytes.empty()) out << "\"\"";
  for (size_t at = 0; at < bytes.size(); at += kBytesOfLine) {
    out << "\n     \"";
    for (const char c : bytes.substr(at, kBytesOfLine)) {
      char escaped[8];
      std::snprintf(escaped, sizeof escaped, "\\%03o", static_cast<unsigned>(c & 0xff));
      out << escaped;
    }
    out << '"';
  }
}

// What is not zero, and stretches of zeros that are too short to be worth a part of their own.
void WriteParts(std::ostream& out, std::string_view file) {
  constexpr size_t kZerosMin = 1024;
  for (size_t at = 0;;) {
    at = file.find_first_not_of('\0', at);
    if (at == std::string_view::npos) return;
    size_t end = at;
    for (size_t next = at; next != std::string_view::npos && next - end < kZerosMin;) {
      end = std::min(file.find('\0', next), file.size());
      next = file.find_first_not_of('\0', end);
    }
    out << "    {" << at << ", std::string_view(";
    WriteLiteral(out, file.substr(at, end - at));
    out << ",\n     " << end - at << ")},\n";
    at = end;
  }
}

// Pages of a schema, the first without the file's header.
void WriteSchemaPages(std::ostream& out, const char* constant, std::string_view file,
                      const std::set<uint32_t>& pages) {
  out << "\ninline constexpr EmptyDatabase::Part " << constant << "[] = {\n";
  for (const uint32_t page : pages) {
    const size_t skip = page == 1 ? kHeaderBytes : 0;
    const std::string_view bytes = PageOf(file, page).substr(skip);
    out << "    {" << uint64_t{page - 1} * EmptyDatabase::kPageBytes + skip
        << ", std::string_view(";
    WriteLiteral(out, bytes);
    out << ",\n     " << bytes.size() << ")},\n";
  }
  out << "};\n";
}

// A shorter schema lies in pages that the whole one has, so that these can take their place again.
Status WriteSchemas(std::ostream& out, const std::string& whole) {
  TRACEDB_ASSIGN(tables, WithRows("type <> 'view'"));
  TRACEDB_ASSIGN(trace_rows,
                 WithRows("type <> 'view' AND tbl_name IN (" + std::string(kTraceRowTables) + ")"));
  const std::set<uint32_t> all_pages = SchemaPages(whole);
  std::set<uint32_t> replaced;
  for (const auto& [constant, file] :
       {std::pair<const char*, const std::string&>{"kTablesSchema", tables},
        {"kTraceRowsSchema", trace_rows}}) {
    const std::set<uint32_t> pages = SchemaPages(file);
    WriteSchemaPages(out, constant, file, pages);
    if (file.size() != whole.size() || !std::ranges::includes(all_pages, pages)) {
      return Error{ErrorKind::kOutput, "a shorter schema has pages of its own", ""};
    }
    replaced.insert(pages.begin(), pages.end());
  }
  WriteSchemaPages(out, "kWholeSchema", whole, replaced);
  return Done{};
}

// A text as a constant that knows its length.
void WriteText(std::ostream& out, std::string_view text) {
  out << "std::string_view(";
  WriteLiteral(out, text);
  out << ", " << text.size() << ")";
}

Status WriteRules(std::ostream& out, SqliteDb& db, const char* constant, const char* rules) {
  out << "\ninline constexpr EmptyDatabase::Rule " << constant << "[] = {\n";
  TRACEDB_ASSIGN(rows, db.Prepare(std::string("SELECT * FROM ") + rules + " ORDER BY rowid"));
  for (;;) {
    TRACEDB_ASSIGN(row, rows.Step());
    if (!row) break;
    out << "    {";
    WriteText(out, rows.Text(0));
    out << ", ";
    WriteText(out, rows.Text(1));
    out << "},\n";
  }
  out << "};\n";
  return Done{};
}

void WriteViews(std::ostream& out) {
  out << "\ninline constexpr EmptyDatabase::View kEmptyViews[] = {\n";
  for (const ViewRow& view : ViewRows()) {
    out << "    {\"" << view.name << "\", ";
    WriteText(out, view.sql);
    out << "},\n";
  }
  out << "};\n";
}

Status WriteTrees(std::ostream& out, SqliteDb& db) {
  out << "\ninline constexpr EmptyDatabase::Tree kEmptyTrees[] = {\n";
  TRACEDB_ASSIGN(trees, db.Prepare(EmptyDatabase::kTreesSql));
  for (;;) {
    TRACEDB_ASSIGN(row, trees.Step());
    if (!row) break;
    out << "    {\"" << trees.Text(0) << "\", " << (trees.Int(1) == 1 ? "true" : "false") << ", "
        << trees.Int(2) << ", \"" << trees.Text(3) << "\", ";
    WriteText(out, trees.Text(4));
    out << "},\n";
  }
  out << "};\n";
  return Done{};
}

Status WriteHeader(std::ostream& out) {
  TRACEDB_ASSIGN(db, MakeEmpty());
  TRACEDB_ASSIGN(file, FileOf(db));
  out << "// Generated by make_empty_database.cc.\n#pragma once\n\n"
         "#include \"tracedb/schema/empty_database.h\"\n\nnamespace tracedb {\n\n"
         "inline constexpr uint64_t kEmptyBytes = "
      << file.size() << ";\n\ninline constexpr EmptyDatabase::Part kEmptyParts[] = {\n";
  WriteParts(out, file);
  out << "};\n";
  TRACEDB_TRY(WriteSchemas(out, file));
  TRACEDB_TRY(WriteTrees(out, db));
  TRACEDB_TRY(WriteRules(out, db, "kEmptyKindRules", "kind_rules"));
  TRACEDB_TRY(WriteRules(out, db, "kEmptyParallelismRules", "parallelism_rules"));
  WriteViews(out);
  out << "\n}  // namespace tracedb\n";
  return Done{};
}

int Make(const char* header) {
  std::ofstream out(header, std::ios::binary);
  const Status made = WriteHeader(out);
  out.close();
  if (!made.ok()) {
    std::cerr << made.error().what << '\n';
  } else if (!out) {
    std::cerr << header << ": cannot write it\n";
  }
  return made.ok() && out ? EXIT_SUCCESS : EXIT_FAILURE;
}

}  // namespace
}  // namespace tracedb

int main(int count, char** arguments) {
  if (count != 2) {
    std::cerr << "usage: make_empty_database HEADER\n";
    return 2;
  }
  return tracedb::Make(arguments[1]);
}
