// Ingests into one database take turns: who works has NAME.partial locked. The lock goes with the
// process; the file's content says that it is ours, and only then it is removed.
#pragma once

#include <filesystem>

#include "tracedb/base/result.h"
#include "tracedb/ingest/load/trace_load.h"

namespace tracedb {

class IngestLock {
 public:
  // `database` is a real name. Waits for another ingest, and says so; not any longer once
  // `options.stop` is true.
  static Result<IngestLock> Take(const std::filesystem::path& database, const LoadOptions& options);
  ~IngestLock();
  IngestLock(IngestLock&& other) noexcept;
  IngestLock(const IngestLock&) = delete;
  IngestLock& operator=(const IngestLock&) = delete;
  IngestLock& operator=(IngestLock&&) = delete;

 private:
  explicit IngestLock(std::filesystem::path name) : name_(std::move(name)) {}
  Result<bool> Make();
  bool MarkNamed();
  Result<bool> Find(const std::filesystem::path& database, const LoadOptions& options);
  Status Wait(const std::filesystem::path& database, const LoadOptions& options);
  bool IsStillNamed() const;
  bool IsAnothers() const;
  void Close();

  std::filesystem::path name_;
  int file_ = -1;
  bool is_ours_ = false;  // it carries our mark
};

}  // namespace tracedb
