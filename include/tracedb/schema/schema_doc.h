// What the schema's own comments say of the public tables and views: the lines that begin with --
// at the top of a CREATE statement. SQLite keeps them in the database.
//
//   CREATE VIEW steps AS
//   -- A training step of a rank.
//   --   step: its number, as in
//   --     ProfilerStep#7
//   SELECT ...
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "tracedb/base/result.h"

namespace tracedb {

struct SchemaComment {
  std::string text;
  std::map<std::string, std::string, std::less<>> columns;  // by name
};

// Of a CREATE statement as sqlite_schema has it.
SchemaComment ParseSchemaComment(std::string_view create_sql);

struct RelationDoc {
  struct Column {
    std::string name;
    std::string text;  // empty: the schema says nothing of it
  };
  std::string name;
  std::string text;
  // Those under the names of another program (CUPTI_..., StringIds) come last, without columns:
  // that program's documentation has them.
  bool foreign = false;
  std::vector<Column> columns;
};

// Of every public table and view of this version's schema; its own tables, whose names begin with
// _, are left out. In the order of their declaration.
Result<std::vector<RelationDoc>> ReadSchemaDoc();

}  // namespace tracedb
