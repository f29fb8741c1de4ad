#include "ingest/load/table_copy.h"

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <set>

#include "tracedb/base/descriptor.h"
#include "tracedb/schema/empty_database.h"

namespace tracedb {

Status HonourForeignKeys(SqliteDb& db) {
  TRACEDB_ASSIGN(any, db.Integer("SELECT EXISTS (SELECT 1 FROM main.sqlite_schema s, "
                                 "pragma_foreign_key_list(s.name) WHERE s.type = 'table' AND "
                                 "s.sql LIKE '%references%')"));
  return any != 0 ? db.Execute("PRAGMA foreign_keys = ON") : Status(Done{});
}

namespace {

// The columns that we fill: a table of the database may have others of its users.
Result<std::string> ColumnsOf(SqliteDb& db, const std::string& table) {
  TRACEDB_ASSIGN(rows, db.Prepare("SELECT group_concat('\"' || name || '\"') "
                                  "FROM pragma_table_info(?1, 'fresh')"));
  TRACEDB_TRY(rows.Bind(1, std::string_view(table)));
  TRACEDB_ASSIGN(row, rows.Step());
  return row ? std::string(rows.Text(0)) : "";
}

// Where a user has triggers: their errors are said to be theirs, and so are rows that they leave
// out.
Status CopyThroughTriggers(SqliteDb& db, const std::string& table, const std::string& sql,
                           const MergeJob& job) {
  TRACEDB_ASSIGN(given, db.Integer("SELECT count(*) FROM fresh." + table));
  if (const Status copied = db.Execute(sql); !copied.ok()) {
    return Error{ErrorKind::kOutput,
                 job.database.string() + ": table " + table +
                     ", which has a trigger of your own: " + copied.error().what,
                 "nothing was added; mend or drop the trigger"};
  }
  TRACEDB_ASSIGN(taken, db.Integer("SELECT changes()"));
  if (taken < given && job.options.on_note) {
    job.options.on_note(job.database.string() + ": a trigger of your own left out " +
                        std::to_string(given - taken) + " rows of table " + table);
  }
  return Done{};
}

// Half of a small trace's tables have no row, and to prepare a statement takes longer than to copy
// some. Tables of a file of ours are where those of the empty database are. Closing it here drops
// SQLite's locks on it, which keep nobody away: it is nobody else's.
Result<std::vector<std::string>> WithRows(const std::vector<std::string>& tables,
                                          const std::filesystem::path& partial) {
  constexpr std::array<uint8_t, 4> kNoCell = {0, 0, 0, 0};  // after a leaf's first byte
  const Descriptor file(open(partial.c_str(), O_RDONLY | O_CLOEXEC));
  std::vector<std::string> found;
  const std::vector<uint32_t> roots = EmptyDatabase::RootPages(tables);
  for (size_t i = 0; i < tables.size(); ++i) {
    std::array<uint8_t, kNoCell.size()> start{};
    const auto place = static_cast<off_t>(uint64_t{roots[i] - 1} * EmptyDatabase::kPageBytes + 1);
    const ssize_t got = pread(file.number, start.data(), start.size(), place);
    if (got != ssize_t{start.size()}) {
      return Error{ErrorKind::kOutput,
                   partial.string() + ": cannot read it: " +
                       (got < 0 ? std::strerror(errno) : "it ends too early"),
                   "check the disk"};
    }
    if (start != kNoCell) found.push_back(tables[i]);
  }
  return found;
}

}  // namespace

Status AttachFresh(SqliteDb& db, const MergeJob& job) {
  TRACEDB_TRY(db.Execute("PRAGMA secure_delete = OFF; PRAGMA cache_size = -" +
                         std::to_string(job.options.limits.sqlite_cache_kib)));
  TRACEDB_TRY(db.Execute("ATTACH " + QuotedSql(SqliteFileName(job.partial)) + " AS fresh"));
  // BEGIN IMMEDIATE locks both files; with two journals COMMIT would need a third file over them.
  return db.Execute("PRAGMA fresh.journal_mode = OFF");
}

Status CopyTables(SqliteDb& db, const std::vector<std::string>& tables,
                  const DatabaseTables& as_they_are, const MergeJob& job) {
  TRACEDB_TRY(CheckColumns(db, as_they_are.changed));
  TRACEDB_ASSIGN(with_rows, WithRows(tables, job.partial));
  for (const std::string& table : with_rows) {
    // Of tables that are alike SQLite copies records as they are, three times as fast.
    std::string sql = "INSERT INTO main." + table + " SELECT * FROM fresh." + table;
    if (as_they_are.changed.contains(table)) {
      TRACEDB_ASSIGN(columns, ColumnsOf(db, table));
      sql = "INSERT INTO main." + table + " (" + columns + ") SELECT " + columns + " FROM fresh." +
            table;
    }
    TRACEDB_TRY(as_they_are.with_triggers.contains(table) ? CopyThroughTriggers(db, table, sql, job)
                                                          : db.Execute(sql));
  }
  return Done{};
}

std::string QuotedSql(const std::string& text) {
  std::string quoted = "'";
  for (const char c : text) {
    if (c == '\'') quoted += c;
    quoted += c;
  }
  return quoted + "'";
}

}  // namespace tracedb
