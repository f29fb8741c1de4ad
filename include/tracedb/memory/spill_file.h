// A file without a name for what does not fit in memory: it is gone when it is closed, however the
// program ends. Made when something is first written.
#pragma once

#include <cstdint>
#include <filesystem>
#include <span>

#include "tracedb/base/result.h"

namespace tracedb {

class SpillFile {
 public:
  explicit SpillFile(std::filesystem::path folder) : folder_(std::move(folder)) {}
  ~SpillFile();
  SpillFile(const SpillFile&) = delete;
  SpillFile& operator=(const SpillFile&) = delete;

  // Writes at the end; returns where that is.
  Result<uint64_t> Append(std::span<const uint8_t> bytes);
  Status Read(uint64_t place, std::span<uint8_t> into) const;
  uint64_t bytes() const { return end_; }  // that were written

 private:
  Status Open();
  Error Failed(const char* doing) const;

  std::filesystem::path folder_;
  int fd_ = -1;
  uint64_t end_ = 0;
};

}  // namespace tracedb
