// Of a gathered database: a rank's own database, which has the events that its summary leaves out.
// It is opened where the rank's manifest says it is, if that is the database still, and is told
// what only all ranks tell: the job's runs and captures, their numbers and starts, and clocks.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "tracedb/base/result.h"
#include "tracedb/base/sqlite_db.h"
#include "tracedb/query/doc/query_doc.h"

namespace tracedb {

struct RankPlace {
  std::string run;
  int64_t rank = 0;
  std::string host;
  std::filesystem::path database;  // absolute, on that host
};

// Where the databases of these ranks ("0,3..5") are, in their order. An error where the list is
// none, a rank is not among those gathered, or is in several runs and `run` is empty.
Result<std::vector<RankPlace>> FindRankPlaces(SqliteDb& gathered, const std::string& ranks,
                                              const std::string& run);

// Read-only. Its public views answer with the job's runs, captures and aligned times; ids are its
// own. An error says which rank, host and path, and what to do: it is not there, or has other
// traces than those that were gathered.
Result<SqliteDb> OpenRankDatabase(const std::filesystem::path& gathered, const RankPlace& place);

// Why a query's rows of these ranks cannot come from their own databases; empty: they can. A query
// that compares ranks would see one alone, and rows of several that are limited or summed over
// them are not those of all.
std::string WhyNotByRank(const QueryDoc& doc, size_t ranks);

}  // namespace tracedb
