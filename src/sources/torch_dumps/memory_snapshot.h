// What torch.cuda.memory._dump_snapshot writes, a pickle, or torch.cuda.memory._snapshot() as JSON:
// the segments of the caching allocator, their blocks with the stacks that asked for them, and what
// it did before.
#pragma once

#include "tracedb/sources/read/source_reader.h"

namespace tracedb {

class MemorySnapshot : public SourceReader {
 public:
  std::string_view kind() const override { return "memory snapshot"; }
  bool Fits(const SourceHead& head) const override;
  bool ReadsRankInPath() const override { return true; }
  Status Read(SourceText& text, SourceRows& rows) const override;
};

}  // namespace tracedb
