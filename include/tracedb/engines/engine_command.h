// `tracedb export --sql ENGINE [QUERY]`: a canned query for an engine; without one, which there
// are.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "tracedb/base/result.h"
#include "tracedb/query/doc/query_catalog.h"
#include "tracedb/text/output_stream.h"

namespace tracedb {

struct EngineExport {
  std::string engine;                // as EngineByName() has it
  std::vector<std::string> queries;  // one, or none
  std::vector<std::string> params;
  std::string shards;  // a folder, or a URL; empty: a placeholder
};

// The text that is asked for.
Result<std::string> RunEngineExport(const EngineExport& options, const QueryCatalog& catalog);

}  // namespace tracedb
