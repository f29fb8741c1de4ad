#include "tracedb/query/run/near_in_schema.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <set>
#include <span>
#include <utility>
#include <vector>

#include "tracedb/schema/schema_doc.h"
#include "tracedb/text/near_name.h"
#include "tracedb/text/result_text.h"

namespace tracedb {
namespace {

constexpr std::string_view kNoTable = "no such table: ";
constexpr std::string_view kNoColumn = "no such column: ";
constexpr size_t kTablesShownMax = 5;

std::set<std::string> WordsOfSql(std::string_view sql) {
  std::set<std::string> words;
  std::string word;
  for (const char c : sql) {
    const auto byte = static_cast<unsigned char>(c);
    if (std::isalnum(byte) != 0 || c == '_') {
      word += static_cast<char>(std::tolower(byte));
    } else if (!word.empty()) {
      words.insert(std::exchange(word, {}));
    }
  }
  if (!word.empty()) words.insert(word);
  return words;
}

std::string NearAmong(std::string_view typed, const std::set<std::string>& names) {
  return DidYouMean(NearNames(typed, std::vector<std::string>(names.begin(), names.end())));
}

std::string NearTable(std::string_view typed, const std::vector<RelationDoc>& relations,
                      std::span<const std::string> more) {
  std::set<std::string> names(more.begin(), more.end());
  for (const RelationDoc& relation : relations) names.insert(relation.name);
  const std::string near = NearAmong(typed, names);
  return near.empty() ? "tracedb query --schema lists them" : near;
}

std::string NearColumn(std::string_view typed, std::string_view sql,
                       const std::vector<RelationDoc>& relations) {
  if (const size_t dot = typed.rfind('.'); dot != std::string_view::npos) {
    typed.remove_prefix(dot + 1);
  }
  const std::set<std::string> words = WordsOfSql(sql);
  std::set<std::string> mentioned;
  std::set<std::string> all;
  std::vector<std::string> having;
  for (const RelationDoc& relation : relations) {
    const bool is_mentioned = words.contains(relation.name);
    for (const RelationDoc::Column& column : relation.columns) {
      (is_mentioned ? mentioned : all).insert(column.name);
      if (column.name == typed && !relation.foreign) having.push_back(relation.name);
    }
  }
  std::string near = NearAmong(typed, mentioned);
  if (near.empty() && !having.empty()) {
    const size_t shown = std::min(having.size(), kTablesShownMax);
    near = fmt::format("a column of that name is in {}{}",
                       JoinNames(std::span<const std::string>(having).first(shown)),
                       having.size() > shown ? ", ..." : "");
  }
  return near.empty() ? NearAmong(typed, all) : near;
}

}  // namespace

std::string NearInSchema(std::string_view error, std::string_view sql,
                         std::span<const std::string> more_tables) {
  const bool is_table = error.starts_with(kNoTable);
  if (!is_table && !error.starts_with(kNoColumn)) return "";
  const auto relations = ReadSchemaDoc();
  if (!relations.ok()) return "";
  const std::string typed = ShownText(error.substr((is_table ? kNoTable : kNoColumn).size()));
  return is_table ? NearTable(typed, relations.value(), more_tables)
                  : NearColumn(typed, sql, relations.value());
}

}  // namespace tracedb
