// What a path of call_path means: nodes upwards, and a number that is equal for paths through the
// same operators and modules, with the same args, of any trace.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "tracedb/base/result.h"
#include "tracedb/base/sqlite_db.h"
#include "tracedb/schema/event_tables.h"

namespace tracedb {

struct PathEntry {
  int64_t id = 0;
  HostKind kind = HostKind::kOperator;
  int64_t event_name = 0;
  int64_t args_text = 0;
  int64_t op = 0;          // event_name of the nearest operator upwards
  uint64_t name_hash = 0;  // of name and kind
  uint64_t meaning = 0;
};

class PathMeanings {
 public:
  static Result<PathMeanings> Open(SqliteDb& db, size_t bytes_max);

  // From the outermost to the path itself; empty for 0. Lives until the next call.
  Result<const std::vector<PathEntry>*> Of(int64_t path_id);
  Result<uint64_t> MeaningOf(int64_t path_id);
  // The first batch size that an annotation on the path names; none: 0.
  Result<int64_t> BatchOf(int64_t path_id);

 private:
  static constexpr size_t kBytesEach = 128;
  struct Known {
    PathEntry piece;
    int64_t parent = 0;
    int64_t batch = 0;
  };
  PathMeanings(SqliteStatement read, size_t known_max)
      : read_(std::move(read)), known_max_(known_max) {}
  Result<Known> Read(int64_t path_id);

  SqliteStatement read_;
  size_t known_max_;
  std::unordered_map<int64_t, Known> known_;
  std::vector<PathEntry> pieces_;
  int64_t batch_ = 0;
};

// The batch size in a name such as "step[DECODE bs=32]", "capture_32_FULL", "bs_32_rank0.json.gz"
// or "execute_32_context_0(...)_generation_32(...)"; 0: it names none.
int64_t BatchInName(std::string_view name);

}  // namespace tracedb
