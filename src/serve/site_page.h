// The page at /: content -> HTML. Knows neither SQL nor HTTP.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "tracedb/query/doc/query_doc.h"

namespace tracedb {

using GivenParams = std::vector<std::pair<std::string, std::string>>;

// The first rows of a result, as HTML; or why there are none.
struct PageResult {
  std::string html = {};
  std::string chart = {};            // drawn with characters; empty: none
  std::optional<int64_t> rows = {};  // nothing: not known
  bool more_rows = false;            // than `rows`
};

struct PageQuery {
  const QueryDoc* doc = nullptr;
  bool is_asked = false;  // by the person
  GivenParams given;      // what the person filled in
  PageResult result;
};

struct PageTable {
  std::string name;
  bool is_view = false;
  std::optional<int64_t> rows;  // nothing: counting took too long
  bool more_rows = false;       // than `rows`: those were as many as are counted
  std::string meaning;          // empty: the schema says nothing
  struct Column {
    std::string name;
    std::string meaning;
  };
  std::vector<Column> columns;
};

struct PageContent {
  std::string database;
  std::string origin;   // "http://127.0.0.1:8642"
  std::string token;    // as it stood in the address; links must have it too
  std::string traces;   // HTML of what is in the database
  std::string missing;  // ranks that a gathered database is without; empty: none
  std::vector<PageQuery> queries;
  std::vector<const QueryDoc*> checks;
  std::vector<PageTable> tables;
  std::string table_shown;  // empty: none
  GivenParams table_given;
  PageResult table_result;
  std::string sql;  // of the box; empty: none
  PageResult sql_result;
  std::string find;      // what queries and tables are shown for; empty: all
  bool is_whole = true;  // nothing was left out for taking too long
};

std::string RenderPage(const PageContent& content);

}  // namespace tracedb
