// All canned queries by name: those built into the program, and those of a folder.
#pragma once

#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tracedb/base/result.h"
#include "tracedb/base/sqlite_db.h"
#include "tracedb/query/doc/query_doc.h"

namespace tracedb {

// A .sql file that was compiled into the program; both texts live as long as the program.
struct QueryText {
  std::string_view file;  // "overlap.sql"
  std::string_view text;
};

class QueryCatalog {
 public:
  // Files of `folder` (*.sql; empty: no folder) replace built-in queries of the same name. Every
  // text must be documented; the first that is not fails the load.
  static Result<QueryCatalog> Load(std::span<const QueryText> built_in,
                                   const std::filesystem::path& folder = {});

  // Sorted by name.
  std::span<const QueryDoc> queries() const { return queries_; }
  // By "overlap" or "overlap.sql"; nullptr when there is none. Lives as long as the catalog.
  const QueryDoc* Find(std::string_view name) const;
  // As Find; when there is none, a kUsage error that names the nearest, or lists them all.
  Result<const QueryDoc*> Get(std::string_view name) const;

 private:
  Status Add(std::string_view file, std::string_view text);
  Status AddFolder(const std::filesystem::path& folder);
  Status FindReasons();

  std::vector<QueryDoc> queries_;
};

// Whether a canned query keeps what its header says, on a live database: one statement that only
// reads, what it is about, result columns as its column lines name and order them, parameters as
// its param lines.
Status CheckCannedQuery(SqliteDb& db, const QueryDoc& doc);

}  // namespace tracedb
