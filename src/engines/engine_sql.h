// A canned query as SQL of Spark, DuckDB or ClickHouse, over the Parquet files that
// `tracedb ingest --shard` and `tracedb gather` have left in a folder.
//
//   sql/QUERY.sql, sql/views/*.sql ──▶ those that it reads, as WITH ... ──▶ an engine's words
//
// The files of sql/ are made of the queries and views themselves (make_engine_sql.py).
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tracedb/base/result.h"
#include "tracedb/query/doc/query_catalog.h"

namespace tracedb {

enum class Engine { kSpark, kDuckDb, kClickHouse };

std::optional<Engine> EngineByName(std::string_view name);  // "spark", "duckdb", "clickhouse"
std::string_view EngineTitle(Engine engine);                // "Spark", "DuckDB", "ClickHouse"

// Where a folder is named by nobody.
inline constexpr std::string_view kShardsPlaceholder = "SHARDS";

struct EngineQuestion {
  Engine engine = Engine::kDuckDb;
  std::vector<std::string> params;  // "key=value", as tracedb query takes them
  std::string shards;               // absolute, or a URL; empty: kShardsPlaceholder
};

// The names of the queries that engines can answer, sorted.
std::vector<std::string> EngineQueries();

// Comments, then one statement that ends with a semicolon. A kUsage error says why an engine cannot
// answer the query.
Result<std::string> EngineSql(const QueryDoc& doc, const EngineQuestion& question);

}  // namespace tracedb
