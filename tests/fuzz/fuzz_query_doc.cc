// Any bytes as a query file: its header is read or refused with a line that names the file.

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>

#include "tracedb/query/doc/query_doc.h"
#include "tracedb/query/doc/query_explain.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string text(reinterpret_cast<const char*>(data), size);
  const auto doc = tracedb::ParseQueryDoc("fuzz.sql", text);
  if (!doc.ok()) {
    if (doc.error().what.find("fuzz.sql") == std::string::npos) {
      std::fprintf(stderr, "an error without the file: %s\n", doc.error().what.c_str());
      std::abort();
    }
    return 0;
  }
  if (tracedb::ExplainQuery(doc.value()).empty() && doc.value().IsDocumented()) std::abort();
  return 0;
}
