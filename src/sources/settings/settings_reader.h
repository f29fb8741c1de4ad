// The kind of file that says what a job was asked for: a batch file of Slurm or PBS, what sacct
// prints, a file of variables.
#pragma once

#include "tracedb/sources/read/source_reader.h"

namespace tracedb {

class SettingsReader : public SourceReader {
 public:
  std::string_view kind() const override { return "job settings"; }
  bool Fits(const SourceHead& head) const override;
  bool MayBeOfSeveralJobs() const override { return true; }
  Status Read(SourceText& text, SourceRows& rows) const override;
};

}  // namespace tracedb
