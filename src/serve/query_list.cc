#include "serve/query_list.h"

#include <fmt/format.h>

#include <string>
#include <vector>

namespace tracedb {

Status WriteQueryList(const QueryCatalog& catalog, RowSink& sink) {
  const std::vector<std::string> names = {"query", "title", "parameters", "path"};
  TRACEDB_TRY(sink.Begin(names));
  const auto text = [](std::string_view value) { return Cell{SqlType::kText, 0, 0, value}; };
  for (const bool in_folder : {false, true}) {  // the checks of doctor come last
    for (const QueryDoc& doc : catalog.queries()) {
      if (doc.IsInFolder() != in_folder) continue;
      std::string params;
      for (const QueryParam& param : doc.params) {
        params += (params.empty() ? "" : "; ") + DescribeParam(param);
      }
      const std::string path = fmt::format("/{}.csv", doc.name);
      const std::vector<Cell> cells = {text(doc.name), text(doc.title), text(params), text(path)};
      TRACEDB_TRY(sink.Row(cells));
    }
  }
  return sink.End();
}

}  // namespace tracedb
