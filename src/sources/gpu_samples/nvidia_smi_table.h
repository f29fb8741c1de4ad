// What `nvidia-smi` prints without options, once, every so often (-l) or under `watch`: a date, and
// a table with two or three lines for each GPU, then its processes.
#pragma once

#include "tracedb/sources/read/source_reader.h"

namespace tracedb {

class NvidiaSmiTable : public SourceReader {
 public:
  std::string_view kind() const override { return "nvidia-smi table"; }
  bool Fits(const SourceHead& head) const override;
  Status Read(SourceText& text, SourceRows& rows) const override;
};

}  // namespace tracedb
