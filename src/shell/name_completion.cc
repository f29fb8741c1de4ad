#include "shell/name_completion.h"

#include <algorithm>
#include <array>
#include <utility>

#include "shell/shell_words.h"
#include "tracedb/schema/schema_doc.h"

namespace tracedb {
namespace {

constexpr std::array kSqlWords = {"SELECT", "FROM",     "WHERE", "GROUP BY", "ORDER BY",
                                  "LIMIT",  "DISTINCT", "JOIN",  "WITH",     "HAVING"};

void SortOnce(std::vector<std::string>& names) {
  std::sort(names.begin(), names.end());
  names.erase(std::unique(names.begin(), names.end()), names.end());
}

std::string_view FirstWord(std::string_view text) {
  const size_t begin = std::min(text.find_first_not_of(" \t"), text.size());
  text.remove_prefix(begin);
  return text.substr(0, text.find_first_of(" \t"));
}

}  // namespace

Result<NameCompletion> NameCompletion::Of(const QueryCatalog& catalog) {
  NameCompletion names(catalog);
  TRACEDB_ASSIGN(relations, ReadSchemaDoc());
  for (const RelationDoc& relation : relations) {
    names.relations_.push_back(relation.name);
    for (const RelationDoc::Column& column : relation.columns) names.in_sql_.push_back(column.name);
  }
  names.in_sql_.insert(names.in_sql_.end(), names.relations_.begin(), names.relations_.end());
  names.in_sql_.insert(names.in_sql_.end(), kSqlWords.begin(), kSqlWords.end());
  for (const DotCommand& command : DotCommands()) names.starts_.emplace_back(command.name);
  names.starts_.emplace_back("SELECT");
  names.starts_.emplace_back("WITH");
  for (const QueryDoc& doc : catalog.queries()) {
    if (!doc.IsInFolder()) names.starts_.push_back(doc.name);
  }
  for (auto* list : {&names.starts_, &names.relations_, &names.in_sql_}) SortOnce(*list);
  return names;
}

std::vector<std::string> NameCompletion::Names(std::string_view before,
                                               std::string_view begun) const {
  const std::string_view first = FirstWord(before);
  std::vector<std::string> among = first.empty() ? starts_ : in_sql_;
  if (first == ".schema" || first == ".tables") among = relations_;
  if (first == ".mode") {
    among = {"csv", "json", "markdown", "ndjson", "table", "tsv", "vertical", "wide"};
  }
  if (first == ".timer") among = {"off", "on"};
  if (first == ".explain") {
    among.clear();
    for (const QueryDoc& doc : catalog_->queries()) among.push_back(doc.name);
  }
  if (const QueryDoc* doc = catalog_->Find(first); doc != nullptr) {
    among = {"--explain", "--plot", "--vertical", "--wide"};
    for (const QueryParam& param : doc->params) among.push_back(param.name + "=");
  }
  std::erase_if(among, [&](const std::string& name) { return !name.starts_with(begun); });
  return among;
}

}  // namespace tracedb
