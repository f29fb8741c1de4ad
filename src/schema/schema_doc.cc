#include "tracedb/schema/schema_doc.h"

#include <algorithm>
#include <utility>

#include "tracedb/base/sqlite_db.h"
#include "tracedb/schema/schema_sql.h"

namespace tracedb {
namespace {

constexpr size_t kColumnIndent = 3;  // blanks between -- and a column's name

void AddWords(std::string& text, std::string_view words) {
  if (!text.empty()) text += ' ';
  text += words;
}

std::string_view WithoutBlanks(std::string_view text) {
  const size_t begin = text.find_first_not_of(' ');
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(' ') + 1 - begin);
}

// Names of ours are in small letters.
bool IsForeign(std::string_view name) {
  return std::any_of(name.begin(), name.end(), [](char c) { return c >= 'A' && c <= 'Z'; });
}

Result<std::vector<RelationDoc::Column>> ReadColumns(SqliteDb& db, const std::string& relation,
                                                     const SchemaComment& comment) {
  TRACEDB_ASSIGN(rows, db.Prepare("SELECT name FROM pragma_table_info(?1) ORDER BY cid"));
  TRACEDB_TRY(rows.Bind(1, std::string_view(relation)));
  std::vector<RelationDoc::Column> columns;
  for (;;) {
    TRACEDB_ASSIGN(row, rows.Step());
    if (!row) return columns;
    const auto found = comment.columns.find(rows.Text(0));
    columns.push_back(
        {std::string(rows.Text(0)), found == comment.columns.end() ? "" : found->second});
  }
}

}  // namespace

SchemaComment ParseSchemaComment(std::string_view create_sql) {
  SchemaComment comment;
  std::string* open = &comment.text;
  size_t at = create_sql.find('\n');
  while (at != std::string_view::npos) {
    const size_t end = std::min(create_sql.find('\n', at + 1), create_sql.size());
    std::string_view line = WithoutBlanks(create_sql.substr(at + 1, end - at - 1));
    at = end < create_sql.size() ? end : std::string_view::npos;
    if (!line.starts_with("--")) break;
    line.remove_prefix(2);
    const size_t indent = std::min(line.find_first_not_of(' '), line.size());
    const std::string_view words = WithoutBlanks(line);
    const size_t colon = words.find(": ");
    if (indent == kColumnIndent && colon != std::string_view::npos) {
      open = &comment.columns[std::string(words.substr(0, colon))];
      AddWords(*open, WithoutBlanks(words.substr(colon + 2)));
    } else {
      AddWords(*open, words);
    }
  }
  return comment;
}

Result<std::vector<RelationDoc>> ReadSchemaDoc() {
  TRACEDB_ASSIGN(db, SqliteDb::OpenInMemory());
  TRACEDB_TRY(db.Execute(TablesSql()));
  TRACEDB_TRY(db.Execute(ViewsSql()));
  TRACEDB_ASSIGN(rows, db.Prepare("SELECT name, sql FROM sqlite_schema WHERE type IN ('table', "
                                  "'view') AND substr(name, 1, 1) <> '_' ORDER BY rowid"));
  std::vector<RelationDoc> relations;
  for (;;) {
    TRACEDB_ASSIGN(row, rows.Step());
    if (!row) break;
    SchemaComment comment = ParseSchemaComment(rows.Text(1));
    RelationDoc relation;
    relation.name = rows.Text(0);
    relation.foreign = IsForeign(relation.name);
    if (!relation.foreign) {
      TRACEDB_ASSIGN(columns, ReadColumns(db, relation.name, comment));
      relation.columns = std::move(columns);
    }
    relation.text = std::move(comment.text);
    relations.push_back(std::move(relation));
  }
  std::stable_partition(relations.begin(), relations.end(),
                        [](const RelationDoc& relation) { return !relation.foreign; });
  return relations;
}

}  // namespace tracedb
