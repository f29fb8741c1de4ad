// One query: its SQL and what the comment block at its top says about it. The format of that block
// is described in queries/README.md; this is its only parser.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tracedb/base/result.h"
#include "tracedb/query/doc/query_plot.h"

namespace tracedb {

enum class DocType { kText, kInteger, kReal, kBool };
std::string_view DocTypeName(DocType type);  // "text", "int", "real", "bool"

struct QueryParam {
  std::string name;  // without the ':'
  DocType type = DocType::kText;
  std::string unit;                         // empty: none
  std::optional<std::string> default_text;  // nothing: the parameter must be given
  bool default_is_null = false;             // then default_text is "null"
  bool takes_list = false;  // "0,3..5" too; bound as JSON: IN (SELECT value FROM json_each(:name))
  std::string text;
};

struct QueryColumn {
  std::string name;
  DocType type = DocType::kText;
  std::string unit;
  std::string text;
};

struct QueryDoc {
  std::string file;         // what errors call it: "overlap.sql", a path, "standard input"
  std::string name;         // `file` without ".sql": "overlap"
  std::string title;        // empty: the text has no header
  std::string description;  // lines as they were written, paragraphs parted by an empty line
  std::string meaning;      // of a check: what its rows mean for the numbers; may be empty
  std::string advice;       // of a check: what to do about them; may be empty
  std::string about;        // what it is asked about, which groups queries; empty: not said
  std::string when_empty;   // what to tell a person when no row comes; may be empty
  std::string why_empty;    // names of checks that may say why instead, parted by commas
  std::vector<std::string> why_empty_sql;  // their SQL; a catalog knows it
  std::string lead;  // columns by importance, for a table that has no room for all
  std::string wrap;  // columns whose texts are the point: no table cuts them
  std::vector<QueryParam> params;
  std::vector<QueryColumn> columns;  // in result order
  std::optional<PlotSpec> plot;      // how --plot draws it; nothing: as PlotSink guesses
  std::string sql;                   // what follows the header
  int sql_line = 1;                  // the line of the file on which `sql` begins

  bool IsDocumented() const { return !title.empty(); }
  // "doctor/stream_overlaps": a check, which is found by its name but stands in no list of queries.
  bool IsInFolder() const { return name.find('/') != std::string::npos; }
  const QueryParam* FindParam(std::string_view param) const;
};

// Errors say "overlap.sql:12: column 'x' has no unit". A text whose top comment has none of our
// keys is no error: it is all SQL, and undocumented.
Result<QueryDoc> ParseQueryDoc(std::string_view file, std::string_view text);

// "limit int (rows), default 20": a parameter in a few words.
std::string DescribeParam(const QueryParam& param);

}  // namespace tracedb
