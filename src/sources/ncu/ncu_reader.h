// Reads files of Nsight Compute: what `ncu --csv` prints of profiled kernels, and what
// `ncu --query-metrics` prints of metrics.
#pragma once

#include <string_view>

#include "tracedb/sources/read/source_reader.h"

namespace tracedb {

class NcuReader : public SourceReader {
 public:
  std::string_view kind() const override { return "Nsight Compute"; }
  bool Fits(const SourceHead& head) const override;
  bool ReadsRankInPath() const override { return true; }
  Status Read(SourceText& text, SourceRows& rows) const override;
};

class NcuMetricsReader : public SourceReader {
 public:
  std::string_view kind() const override { return "Nsight Compute metrics"; }
  bool Fits(const SourceHead& head) const override;
  Status Read(SourceText& text, SourceRows& rows) const override;
};

}  // namespace tracedb
