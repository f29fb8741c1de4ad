// The kind of file that a training program prints to its terminal.
#pragma once

#include "tracedb/sources/read/source_reader.h"

namespace tracedb {

class LogReader : public SourceReader {
 public:
  std::string_view kind() const override { return "training log"; }
  bool Fits(const SourceHead& head) const override;
  std::span<const std::string_view> PagedTables() const override;
  Status Read(SourceText& text, SourceRows& rows) const override;
};

}  // namespace tracedb
