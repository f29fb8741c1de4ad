// What export_memory_timeline of PyTorch's profiler writes as JSON: bytes by category of tensor
// over time, or (*.raw.json.gz) each change of them.
#pragma once

#include "tracedb/sources/read/source_reader.h"

namespace tracedb {

class MemoryTimeline : public SourceReader {
 public:
  std::string_view kind() const override { return "memory timeline"; }
  bool Fits(const SourceHead& head) const override;
  bool ReadsRankInPath() const override { return true; }
  Status Read(SourceText& text, SourceRows& rows) const override;
};

}  // namespace tracedb
