// What `nvidia-smi dmon` prints: a line for each GPU and second, columns as -s and -o ask for them,
// their names and units again and again in lines that begin with #.
#pragma once

#include "tracedb/sources/read/source_reader.h"

namespace tracedb {

class NvidiaSmiDmon : public SourceReader {
 public:
  std::string_view kind() const override { return "nvidia-smi dmon"; }
  bool Fits(const SourceHead& head) const override;
  Status Read(SourceText& text, SourceRows& rows) const override;
};

}  // namespace tracedb
