// Dumps of PyTorch's flight recorder, nccl_trace_rank_N: the collectives that a rank had called
// when its job hung, as a pickle or as JSON.
#pragma once

#include "tracedb/sources/read/source_reader.h"

namespace tracedb {

class FlightRecorder : public SourceReader {
 public:
  std::string_view kind() const override { return "flight recorder"; }
  bool Fits(const SourceHead& head) const override;
  bool ReadsRankInPath() const override { return true; }
  bool MayBeOfSeveralJobs() const override { return true; }  // of a rank that has called nothing
  Status Read(SourceText& text, SourceRows& rows) const override;
};

}  // namespace tracedb
