#include "cut/gzip_output.h"

namespace tracedb {

Result<std::unique_ptr<GzipOutput>> GzipOutput::Create(OutputStream& inner) {
  TRACEDB_ASSIGN(gzip, GzipText::Create());
  return std::unique_ptr<GzipOutput>(new GzipOutput(inner, std::move(gzip)));
}

Status GzipOutput::Finish() {
  TRACEDB_TRY(Flush());
  return inner_.Write(gzip_->Finish());
}

}  // namespace tracedb
