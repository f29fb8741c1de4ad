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

struct PageQuery {
  const QueryDoc* doc = nullptr;
  GivenParams given;    // what the person filled in
  std::string preview;  // HTML
};

struct PageTable {
  std::string name;
  bool is_view = false;
  std::optional<int64_t> rows;  // nothing: counting took too long
  bool more_rows = false;       // than `rows`: those were as many as are counted
  std::vector<std::string> columns;
};

struct PageContent {
  std::string database;
  std::string origin;  // "http://127.0.0.1:8642"
  std::string token;   // as it stood in the address; links must have it too
  std::string traces;  // HTML of what is in the database
  std::vector<PageQuery> queries;
  std::vector<const QueryDoc*> checks;
  std::vector<PageTable> tables;
  std::string table_shown;  // empty: none
  GivenParams table_given;
  std::string table_preview;  // HTML
  bool is_whole = true;       // nothing was left out for taking too long
};

std::string RenderPage(const PageContent& content);

}  // namespace tracedb
