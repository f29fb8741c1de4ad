// What `nvidia-smi --query-gpu=... --format=csv` prints, once or every so often (-l, -lms).
#pragma once

#include "tracedb/sources/read/source_reader.h"

namespace tracedb {

class NvidiaSmiCsv : public SourceReader {
 public:
  std::string_view kind() const override { return "nvidia-smi"; }
  bool Fits(const SourceHead& head) const override;
  Status Read(SourceText& text, SourceRows& rows) const override;
};

}  // namespace tracedb
