#include "engines/engine_sql.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "engines/engine_dialect.h"
#include "engines/engine_refusal.h"
#include "engines/engine_tables.h"
#include "engines/engine_texts.h"
#include "tracedb/query/run/query_arguments.h"

namespace tracedb {
namespace {

constexpr std::string_view kEnding = ".sql";
constexpr std::string_view kViewStart = "views/";
constexpr std::string_view kReads = "-- reads: ";

// A file of sql/: its first lines name what it reads.
struct Relation {
  std::vector<std::string> reads;
  std::string_view sql;
};

std::optional<Relation> FindRelation(const std::string& file) {
  for (const QueryText& text : EngineTexts()) {
    if (text.file != file + std::string(kEnding)) continue;
    Relation relation{{}, text.text};
    while (relation.sql.starts_with(kReads)) {
      const size_t line = relation.sql.find('\n');
      std::string_view names = relation.sql.substr(0, line).substr(kReads.size());
      relation.sql.remove_prefix(line + 1);
      while (!names.empty()) {
        const size_t blank = std::min(names.find(' '), names.size());
        relation.reads.emplace_back(names.substr(0, blank));
        names.remove_prefix(std::min(blank + 1, names.size()));
      }
    }
    while (relation.sql.ends_with('\n')) relation.sql.remove_suffix(1);
    return relation;
  }
  return std::nullopt;
}

// What a query reads, each after what it reads itself.
class Needs {
 public:
  void Add(const std::vector<std::string>& names) {
    for (const std::string& name : names) {
      if (!known_.insert(name).second) continue;
      const auto view = FindRelation(std::string(kViewStart) + name);
      Add(view.has_value() ? view->reads : EngineTableNeeds(name));
      order_.push_back(name);
    }
  }
  const std::vector<std::string>& order() const { return order_; }

 private:
  std::set<std::string> known_;
  std::vector<std::string> order_;
};

// The values of a query's parameters, as literals.
class Literals {
 public:
  static Result<Literals> Read(const QueryDoc& doc, const EngineQuestion& question) {
    Literals literals;
    if (doc.params.empty() && question.params.empty()) return literals;
    TRACEDB_ASSIGN(db, SqliteDb::OpenInMemory());
    std::string sql = "SELECT 0";
    for (const QueryParam& param : doc.params) sql += ", :" + param.name;
    std::vector<SqliteStatement> statements;
    TRACEDB_ASSIGN(statement, db.Prepare(sql));
    statements.push_back(std::move(statement));
    TRACEDB_TRY(BindArguments(statements, doc, question.params));
    TRACEDB_ASSIGN(row, statements[0].Step());
    (void)row;
    for (size_t i = 0; i < doc.params.size(); ++i) {
      const QueryParam& param = doc.params[i];
      const int column = static_cast<int>(i) + 1;
      if (statements[0].Type(column) == SqlType::kNull) continue;
      std::string value(statements[0].Text(column));
      if (param.takes_list) {
        TRACEDB_ASSIGN(list, ListOf(db, value));
        value = std::move(list);
      } else if (statements[0].Type(column) == SqlType::kText) {
        value = EngineText(question.engine, value);
      } else if (statements[0].Type(column) == SqlType::kReal) {
        value = fmt::format("{:.17e}", statements[0].Real(column));
      }
      literals.values_[param.name] = std::move(value);
    }
    return literals;
  }

  std::optional<std::string> Write(std::string_view call,
                                   std::span<const std::string> arguments) const {
    if (arguments.empty()) return std::nullopt;
    const auto value = values_.find(arguments[0]);
    const bool is_given = value != values_.end();
    if (call == "GIVEN") return is_given ? value->second : "NULL";
    if (call == "ALL_OF") return is_given ? "1 = 0" : "1 = 1";
    if (call != "ONE_OF" || arguments.size() != 2) return std::nullopt;
    return is_given ? fmt::format("{} IN ({})", arguments[1], value->second) : "1 = 0";
  }

 private:
  static Result<std::string> ListOf(SqliteDb& db, const std::string& json) {
    TRACEDB_ASSIGN(rows, db.Prepare("SELECT value FROM json_each(?1)"));
    TRACEDB_TRY(rows.Bind(1, std::string_view(json)));
    std::string list;
    for (;;) {
      TRACEDB_ASSIGN(row, rows.Step());
      if (!row) break;
      list += fmt::format("{}{}", list.empty() ? "" : ", ", rows.Int(0));
    }
    return list.empty() ? std::string("NULL") : list;
  }

  std::map<std::string, std::string, std::less<>> values_;
};

std::string Indented(std::string_view sql) {
  std::string text = "  ";
  for (const char c : sql) {
    text += c;
    if (c == '\n') text += "  ";
  }
  return text;
}

// The query's own WITH goes on with that of what it reads.
std::string WithQuery(const std::string& with, std::string_view sql) {
  constexpr std::string_view kWith = "WITH ";
  if (with.empty()) return std::string(sql);
  if (!sql.starts_with(kWith)) return "WITH " + with + "\n" + std::string(sql);
  return "WITH " + with + ", " + std::string(sql.substr(kWith.size()));
}

// Of ClickHouse: as SQL has it and the others do it, missing values of joins are NULL, and a name
// is that of a column before it is that of a result.
constexpr std::string_view kClickHouseSettings =
    "\nSETTINGS join_use_nulls = 1, prefer_column_name_to_alias = 1, use_hive_partitioning = 0,\n"
    "  cast_keep_nullable = 1, allow_experimental_correlated_subqueries = 1";

// What means something else in a path with wildcards, as all of these have.
Status CheckShards(const EngineQuestion& question) {
  const size_t at = question.shards.find_first_of("*?[]{}\\\n");
  if (at == std::string::npos) return Done{};
  return Error{ErrorKind::kUsage,
               fmt::format("--shards {}: a path with '{}' is one with wildcards to {}",
                           question.shards, question.shards[at], EngineTitle(question.engine)),
               "name the folder by another path, as that of a link to it"};
}

}  // namespace

std::optional<Engine> EngineByName(std::string_view name) {
  if (name == "spark") return Engine::kSpark;
  if (name == "duckdb") return Engine::kDuckDb;
  if (name == "clickhouse") return Engine::kClickHouse;
  return std::nullopt;
}

std::string_view EngineTitle(Engine engine) {
  if (engine == Engine::kSpark) return "Spark";
  return engine == Engine::kDuckDb ? "DuckDB" : "ClickHouse";
}

std::vector<std::string> EngineQueries() {
  std::vector<std::string> names;
  for (const QueryText& text : EngineTexts()) {
    const std::string_view name = text.file.substr(0, text.file.size() - kEnding.size());
    if (!name.starts_with(kViewStart)) names.emplace_back(name);
  }
  return names;
}

Result<std::string> EngineSql(const QueryDoc& doc, const EngineQuestion& question) {
  const Engine engine = question.engine;
  const auto query = doc.IsInFolder() ? std::nullopt : FindRelation(doc.name);
  if (!query.has_value()) return WhyNoEngine(doc, EngineTitle(engine));
  TRACEDB_TRY(CheckShards(question));
  TRACEDB_ASSIGN(literals, Literals::Read(doc, question));
  const std::string shards(question.shards.empty() ? kShardsPlaceholder
                                                   : std::string_view(question.shards));
  const auto written = [&](std::string_view sql) {
    return ReplaceCallsInSql(sql, [&](std::string_view name, std::span<const std::string> given) {
      auto call = EngineCall(engine, name, given);
      return call.has_value() ? call : literals.Write(name, given);
    });
  };
  Needs needs;
  needs.Add(query->reads);
  std::string text = fmt::format(
      "-- {}: {}\n-- For {}, over the Parquet files of tracedb ingest --shard and tracedb gather\n",
      doc.name, doc.title, EngineTitle(engine));
  if (question.shards.empty()) {
    text += fmt::format("-- in the folder {}: put its path there.\n", kShardsPlaceholder);
  } else {
    text += "-- in " + EngineText(engine, shards) + ".\n";
  }
  std::string with;
  for (const std::string& name : needs.order()) {
    const auto view = FindRelation(std::string(kViewStart) + name);
    const std::string sql =
        view.has_value() ? written(view->sql) : EngineTableSql(engine, name, shards);
    with += fmt::format("{}{} AS (\n{}\n)", with.empty() ? "" : ", ", name, Indented(sql));
  }
  text += WithQuery(with, written(query->sql));
  if (engine == Engine::kClickHouse) text += kClickHouseSettings;
  return text + ";\n";
}

}  // namespace tracedb
