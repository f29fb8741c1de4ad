// What `gpustat` prints, once or every so often (-i): a line of host, time and driver, then one for
// each GPU.
#pragma once

#include "tracedb/sources/read/source_reader.h"

namespace tracedb {

class Gpustat : public SourceReader {
 public:
  std::string_view kind() const override { return "gpustat"; }
  bool Fits(const SourceHead& head) const override;
  Status Read(SourceText& text, SourceRows& rows) const override;
};

}  // namespace tracedb
