// What tab completes in a shell: commands, queries and their parameters, tables and columns.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "tracedb/base/result.h"
#include "tracedb/query/doc/query_catalog.h"

namespace tracedb {

class NameCompletion {
 public:
  // `catalog` must outlive this.
  static Result<NameCompletion> Of(const QueryCatalog& catalog);
  // Names that begin with `begun` and may stand after `before`, sorted, each once.
  std::vector<std::string> Names(std::string_view before, std::string_view begun) const;

 private:
  explicit NameCompletion(const QueryCatalog& catalog) : catalog_(&catalog) {}

  const QueryCatalog* catalog_;
  std::vector<std::string> starts_;     // what a line may begin with
  std::vector<std::string> relations_;  // tables and views
  std::vector<std::string> in_sql_;     // the same, columns, and SQL's own words
};

}  // namespace tracedb
