#include "tracedb/engines/engine_command.h"

#include <fmt/format.h>

#include <algorithm>

#include "engines/engine_sql.h"
#include "tracedb/base/no_memory.h"
#include "tracedb/shards/summary_tables.h"
#include "tracedb/text/near_name.h"

namespace tracedb {
namespace {

// A path is made absolute: engines have working folders of their own.
Result<std::string> ShardsPlace(const EngineExport& options, Engine engine) {
  if (options.shards.empty()) return std::string();
  if (options.shards.find("://") != std::string::npos) {
    if (engine != Engine::kClickHouse) return options.shards;
    return Error{ErrorKind::kUsage,
                 fmt::format("--shards {}: ClickHouse reads a folder here", options.shards),
                 "where the files are elsewhere, put s3(...) or url(...) for each file(...)"};
  }
  std::error_code error;
  const auto path = std::filesystem::absolute(options.shards, error).lexically_normal();
  ThrowIfNoMemory(error);
  if (error || !std::filesystem::is_directory(path, error)) {
    return Error{ErrorKind::kUsage, fmt::format("--shards {}: no such folder", options.shards),
                 "name the folder that was given to tracedb ingest --shard"};
  }
  const std::string places = std::string(kPlaceFile) + ".parquet";
  if (!std::filesystem::exists(path / kGatheredAll / places, error)) {
    return Error{ErrorKind::kUsage,
                 fmt::format("--shards {}: it has not been gathered", options.shards),
                 "tracedb gather " + options.shards + " -o job.db leaves there what engines need"};
  }
  std::string text = path.string();
  while (text.size() > 1 && text.ends_with('/')) text.pop_back();
  return text;
}

}  // namespace

Result<std::string> RunEngineExport(const EngineExport& options, const QueryCatalog& catalog) {
  const auto engine = EngineByName(options.engine);
  if (!engine.has_value()) {
    const auto near =
        NearNames(options.engine, std::vector<std::string>{"spark", "duckdb", "clickhouse"});
    return Error{
        ErrorKind::kUsage, fmt::format("--sql {}: no such engine", options.engine),
        (near.empty() ? "" : DidYouMean(near) + " ") + "it may be spark, duckdb or clickhouse"};
  }
  if (options.queries.size() > 1) {
    return Error{ErrorKind::kUsage, "--sql gives one query at a time",
                 "tracedb export --sql " + options.engine + " " + options.queries[0]};
  }
  if (options.queries.empty()) {
    size_t width = 0;
    for (const std::string& name : EngineQueries()) width = std::max(width, name.size());
    std::string text;
    for (const std::string& name : EngineQueries()) {
      const QueryDoc* doc = catalog.Find(name);
      if (doc != nullptr) text += fmt::format("{:{}}  {}\n", name, width, doc->title);
    }
    return text;
  }
  TRACEDB_ASSIGN(doc, catalog.Get(options.queries[0]));
  TRACEDB_ASSIGN(shards, ShardsPlace(options, *engine));
  return EngineSql(*doc, {*engine, options.params, shards});
}

}  // namespace tracedb
