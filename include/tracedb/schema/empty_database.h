// A database without a trace, as each trace's own file begins. SQLite makes it when the program is
// built, as running the schema's SQL takes longer than reading a small trace.
//
// A connection reads the whole schema before it answers anything: 120 views and 89 tables, of which
// working on one trace's rows takes 38. So a file on its way to a database has a shorter schema: in
// some of the pages of the whole one, which takes its place in the end (empty_rows.h). All else of
// the file is as in the database, the tables as well that its schema is silent about.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace tracedb {

struct EmptyDatabase {
  // Few enough pages to write fast, small enough for a look-up of one row.
  static constexpr uint32_t kPageBytes = 16384;

  struct Part {
    uint64_t offset;
    std::string_view bytes;
  };

  // How long its file is.
  static uint64_t bytes();
  // What of its file is not zero, in the order of the file.
  static std::span<const Part> parts();

  enum class Schema {
    kTraceRows,  // what is asked of one trace's rows
    kTables,     // all tables
    kWhole,      // that of a database: views as well
  };
  // The pages to write for it, where another one is: not the file's header.
  static std::span<const Part> SchemaPages(Schema schema);

  // A table or an index, by its row of sqlite_schema.
  struct Tree {
    std::string_view table;
    bool is_index;  // the rows of a table without rowids are in one as well
    uint32_t root;
    std::string_view name;
    std::string_view sql;  // empty: SQLite's own index
  };
  // By table, each before its indexes.
  static std::span<const Tree> trees();
  // What asks a database's schema for the same, in the same order, and for triggers, which the last
  // column says.
  static constexpr const char* kTreesSql =
      "SELECT tbl_name, type = 'index' OR coalesce(sql, '') LIKE '%WITHOUT ROWID', rootpage, name, "
      "coalesce(sql, ''), type = 'trigger' FROM main.sqlite_schema WHERE type IN ('table', "
      "'index', 'trigger') "
      "ORDER BY tbl_name, type = 'table' DESC, type, name";
  // The root pages of these tables and indexes.
  static std::vector<uint32_t> RootPages(const std::vector<std::string>& names);

  // The views, each as the row of sqlite_schema that SQLite would make of it.
  struct View {
    std::string_view name;
    std::string_view sql;
  };
  static std::span<const View> views();

  // The rows of kind_rules and of parallelism_rules.
  struct Rule {
    std::string_view pattern;
    std::string_view word;  // the kind, or what the communicator is for
  };
  static std::span<const Rule> kind_rules();
  static std::span<const Rule> parallelism_rules();
};

}  // namespace tracedb
