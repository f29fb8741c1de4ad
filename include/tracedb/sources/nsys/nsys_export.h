// An export of Nsight Systems (nsys export --type sqlite) read as traces: one for each process that
// used a GPU, as text of the form that PyTorch's profiler writes, so that all that follows is the
// same for both.
//
// Tables and columns are looked up in the file, never concluded from its version. Of what is read
// nothing is run: views, triggers and generated columns of the file are left aside.
#pragma once

#include <atomic>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "tracedb/base/result.h"
#include "tracedb/ingest/read/byte_source.h"

namespace tracedb {

class ExportTables;
class SqliteDb;

// A GPU as its process numbers it in a context.
struct NsysContext {
  int64_t context = 0;
  int64_t device = 0;
};

// A communicator of NCCL as a process began it.
struct NsysCommunicator {
  uint64_t id = 0;
  int64_t size = 0;
  int64_t rank = 0;  // of the process
};

// The rows of one process of an export that used a GPU. The first part has those of processes
// without a GPU as well.
struct NsysPart {
  std::string name;  // the pid; empty where the export has one part only
  bool has_pid = false;
  int64_t global_pid = 0;  // as the export numbers processes
  std::vector<NsysContext> contexts;
  std::vector<NsysCommunicator> communicators;  // that are known, each once
  bool has_graph_kernels = false;               // of replayed graphs, kernels were recorded
  std::optional<int64_t> rank;                  // in its job; none: nothing tells it
  bool rank_is_guess = false;                   // that of a communicator that may not be the job's
  std::optional<int64_t> world_size;
  uint64_t world = 0;  // where world_size is known: the communicator of all ranks, in their order

  // The pid as the system numbers it.
  int64_t pid() const { return global_pid >> 24 & 0xffffff; }
};

struct NsysOptions {
  bool keep_osrt = false;  // calls of the operating system's libraries, which are most of a file
  std::filesystem::path made_of;  // the file that it was converted from; empty: none
};

class NsysExport {
 public:
  // An error of kNoTrace where the file is another SQLite file, which the error tells.
  static Result<std::shared_ptr<const NsysExport>> Look(const std::filesystem::path& path,
                                                        const NsysOptions& options,
                                                        const std::atomic<bool>* stop);

  // In the order of their GPUs. The parts of what was converted are those of the file it was made
  // of.
  const std::vector<NsysPart>& parts() const { return parts_; }
  // What is read of a part, and how: two readings of an unchanged file with one mark are the same.
  std::string ReadMark(size_t part) const;
  // `memory_bytes`: for what is looked up while it is read (LoadLimits::export_bytes_max).
  Result<std::unique_ptr<ByteSource>> Open(size_t part, const std::atomic<bool>* stop,
                                           size_t memory_bytes) const;

 private:
  NsysExport(std::filesystem::path path, const NsysOptions& options)
      : path_(std::move(path)), options_(options) {}
  Status FindParts(const std::atomic<bool>* stop);
  Status FindCommunicators(SqliteDb& db, const ExportTables& tables, uint64_t rows_max);

  std::filesystem::path path_;
  NsysOptions options_;
  std::vector<NsysPart> parts_;
};

}  // namespace tracedb
