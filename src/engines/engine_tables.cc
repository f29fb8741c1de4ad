#include "engines/engine_tables.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "tracedb/schema/args_columns.h"
#include "tracedb/shards/summary_tables.h"

namespace tracedb {
namespace {

constexpr std::string_view kShardPattern = "(run=[^/]*/rank=[^/]*)/[^/]*$";

// The file that gather has written of a table, without its ending; nullptr: none.
const char* FindJobFile(std::string_view table) {
  if (table == "_place") return kPlaceFile;
  const auto found = std::find_if(kJobTables.begin(), kJobTables.end(),
                                  [&](const JobTable& job) { return table == job.table; });
  return found == kJobTables.end() ? nullptr : found->file;
}

// The file of ranks, without its ending.
std::string RankFile(std::string_view table) {
  if (table == "_summary") return "trace";
  if (table == "_busy_segment") return "busy_outline";
  return table == "_rank_group" ? "process_group" : std::string(table.substr(1));
}

EngineType TypeOf(ParquetType type) {
  return type == ParquetType::kInteger ? EngineType::kInteger
         : type == ParquetType::kReal  ? EngineType::kReal
                                       : EngineType::kText;
}

// "a BIGINT, b STRING": what a rank's file may have, of which each has a part.
std::string Structure(Engine engine, std::string_view table) {
  std::string text;
  for (const ParquetColumn& column : WidestColumns(SummaryTableOf(RankFile(table) + ".parquet"))) {
    text += fmt::format("{}{} {}", text.empty() ? "" : ", ", EngineName(engine, column.name),
                        EngineTypeName(engine, TypeOf(column.type)));
  }
  return text;
}

// What stands after FROM.
std::string Files(Engine engine, std::string_view table, std::string_view shards) {
  const char* const job = FindJobFile(table);
  const std::string folder(shards);
  const std::string name = job != nullptr ? folder + "/" + kGatheredAll + "/" + job + ".parquet"
                                          : RankFile(table) + ".parquet";
  switch (engine) {
    case Engine::kSpark:
      return job != nullptr
                 ? "parquet." + EngineName(engine, name)
                 : fmt::format(
                       "parquet.{} WITH ('mergeSchema' = 'true')",
                       EngineName(engine, folder + "/{run=*,gathered}/{rank=*,all}/" + name));
    case Engine::kDuckDb:
      // That of gather is read as well: it has no row, and all columns.
      return job != nullptr ? fmt::format("read_parquet({}, hive_partitioning = false)",
                                          EngineText(engine, name))
                            : fmt::format(
                                  "read_parquet({}, union_by_name = true, filename = true, "
                                  "hive_partitioning = false)",
                                  EngineText(engine, folder + "/[!.]*/[!.]*/" + name));
    case Engine::kClickHouse:
      return job != nullptr ? fmt::format("file({}, Parquet)", EngineText(engine, name))
                            : fmt::format("file({}, Parquet, {})",
                                          EngineText(engine, folder + "/run=*/rank=*/" + name),
                                          EngineText(engine, Structure(engine, table)));
  }
  return "";
}

// The summary of which a row is: as _place has it.
std::string ShardOfFile(Engine engine) {
  switch (engine) {
    case Engine::kSpark:  // which has the name of a file as that of a URL
      return EngineExtract(engine, "url_decode(replace(_metadata.file_path, '+', '%2B'))",
                           kShardPattern);
    case Engine::kDuckDb:
      return EngineExtract(engine, "replace(filename, '\\', '/')", kShardPattern);
    case Engine::kClickHouse:
      return EngineExtract(engine, "_path", kShardPattern);
  }
  return "";
}

// Devices and streams are numbers, or the texts that odd traces have: here they are texts.
bool IsTextHere(const SummaryColumn& column) {
  return column.id == SummaryId::kNone &&
         (column.column.name == "device" || column.column.name == "stream");
}

std::string Value(Engine engine, std::string_view table, const SummaryColumn& column) {
  const std::string name = "f." + column.column.name;
  if (IsTextHere(column)) {
    const auto cast = [&](const std::string& value) {
      return EngineCast(engine, value, EngineType::kText);
    };
    return fmt::format("coalesce({}, f.{}, {})", cast(name),
                       EngineName(engine, column.column.name + ".text"),
                       cast("f." + EngineName(engine, column.column.name + ".real")));
  }
  if (table == "_args_text" && column.column.name == "args") {
    std::string marks;  // each stands for a value that differs from event to event
    for (int mark = 0; mark < kArgsColumns; ++mark) {
      marks += fmt::format("\\x{:02x}", static_cast<unsigned>(ArgsMark(mark)));
    }
    return EngineReplaceAny(engine, name, marks, "null");
  }
  if (column.id == SummaryId::kTrace) return "p.trace_id";
  if (column.id == SummaryId::kRow) return name + " + p.row_shift";
  if (column.id == SummaryId::kText) return name + " + p.text_shift";
  if (table == "_collective_part" && column.column.name == "group_id") return "g.group_id";
  return name;
}

// Which trace of its summary a row is of.
std::string OfTrace(const SummaryTable& table) {
  if (table.Find("trace_id") >= 0) return "f.trace_id = p.from_trace_id";
  const SummaryColumn& id = table.columns.front();
  const char* what = id.id == SummaryId::kRow ? "row" : "text";
  return fmt::format("f.{} BETWEEN p.first_{} AND p.last_{}", id.column.name, what, what);
}

constexpr std::string_view kChanged =
    "a rank's summary is not the one that was gathered: run tracedb gather again.";
constexpr std::string_view kUsesCut =
    "a rank's summary has not all of its calls: they were too many. Ask that rank's own database.";

// The traces of the summaries that are there now.
std::string SummarySql(Engine engine, std::string_view shards) {
  return fmt::format(
      "SELECT {} AS shard, trace_id, first_row, last_row, first_text, last_text, text_hash\nFROM "
      "{}",
      ShardOfFile(engine), Files(engine, "_summary", shards));
}

// Where gather has put which trace, as long as its summary is the one that it had: the numbers of
// another one would be taken for its own.
std::string PlaceSql(Engine engine, std::string_view shards) {
  return fmt::format(
      "SELECT j.*\nFROM {} AS j\nLEFT JOIN _summary AS s\n  ON s.shard = j.shard AND s.trace_id = "
      "j.from_trace_id AND s.text_hash = j.text_hash\n  AND s.first_row = j.first_row AND "
      "s.last_row = j.last_row\n  AND s.first_text = j.first_text AND s.last_text = j.last_text\n"
      "WHERE {}",
      Files(engine, "_place", shards), EngineGuard(engine, "s.shard IS NULL", kChanged, "j.shard"));
}

}  // namespace

std::vector<std::string> EngineTableNeeds(std::string_view table) {
  if (table == "_place") return {"_summary"};
  if (FindJobFile(table) != nullptr || table == "_summary") return {};
  if (table == "_rank_group") return {"_place", "_process_group"};
  if (table == "_collective_part") return {"_place", "_rank_group"};
  return {"_place"};
}

std::string EngineTableSql(Engine engine, std::string_view table, std::string_view shards) {
  if (table == "_place") return PlaceSql(engine, shards);
  if (table == "_summary") return SummarySql(engine, shards);
  if (FindJobFile(table) != nullptr) return "SELECT *\nFROM " + Files(engine, table, shards);
  const SummaryTable& file = SummaryTableOf(RankFile(table) + ".parquet");
  const std::string from = fmt::format(
      "FROM (SELECT *, {} AS shard FROM {}) AS f\nJOIN _place AS p\n  ON p.shard = f.shard AND {}",
      ShardOfFile(engine), Files(engine, table, shards), OfTrace(file));
  if (table == "_rank_group") {
    return "SELECT p.trace_id AS trace_id, f.group_id AS from_group_id, j.group_id AS group_id\n" +
           from +
           "\nJOIN _process_group AS j\n  ON j.run_id = p.run_id AND j.name = f.name AND "
           "j.ranks = f.ranks";
  }
  std::string columns;
  for (const SummaryColumn& column : file.columns) {
    columns += fmt::format("{}{} AS {}", columns.empty() ? "" : ",\n  ",
                           Value(engine, table, column), column.column.name);
  }
  std::string sql = "SELECT\n  " + columns;
  if (table == "_collective_part") sql += ",\n  p.capture_id AS capture_id";
  sql += "\n" + from;
  if (table == "_collective_part") {
    sql +=
        "\nLEFT JOIN _rank_group AS g\n  ON g.trace_id = p.trace_id AND "
        "g.from_group_id = f.group_id";
  }
  if (table == "_host_use") {
    sql += "\nWHERE " + EngineGuard(engine, "p.has_all_uses = 0", kUsesCut, "p.shard");
  }
  return sql;
}

}  // namespace tracedb
