// An output that packs what it is given, on its way to another one.
#pragma once

#include <memory>
#include <utility>

#include "tracedb/base/result.h"
#include "tracedb/text/gzip_text.h"
#include "tracedb/text/output_stream.h"

namespace tracedb {

class GzipOutput : public OutputStream {
 public:
  // `inner` must live longer.
  static Result<std::unique_ptr<GzipOutput>> Create(OutputStream& inner);

  // Writes the end of the packed text; `inner` is then to be flushed or committed.
  Status Finish();

 protected:
  Status WriteThrough(std::string_view bytes) override { return inner_.Write(gzip_->Add(bytes)); }

 private:
  GzipOutput(OutputStream& inner, std::unique_ptr<GzipText> gzip)
      : inner_(inner), gzip_(std::move(gzip)) {}

  OutputStream& inner_;
  std::unique_ptr<GzipText> gzip_;
};

}  // namespace tracedb
