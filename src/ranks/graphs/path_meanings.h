// What a path of call_path means: what is above it, and a number that is equal for paths through
// the same operators and modules, with the same args, of any trace.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "tracedb/base/result.h"
#include "tracedb/base/sqlite_db.h"
#include "tracedb/schema/event_tables.h"

namespace tracedb {

// Number of an entry of PathMeanings; 0: none.
using PathPlace = uint32_t;

struct PathEntry {
  int64_t id = 0;
  PathPlace parent = 0;  // less than its own
  uint32_t name = 0;     // of name and kind: equal for the same text, whatever event_name says
  HostKind kind = HostKind::kOperator;
  int64_t event_name = 0;
  int64_t args_text = 0;
  int64_t op = 0;        // event_name of the nearest operator upwards
  int64_t batch = 0;     // the nearest batch size that an annotation names upwards
  uint64_t meaning = 0;  // of the operators and modules from the outermost on, with their args
};

class PathMeanings {
 public:
  static Result<PathMeanings> Open(SqliteDb& db, size_t bytes_max);

  // The places of several paths; a path that is not there is at 0. They hold until the next call,
  // and longer as long as generation() stays.
  Status Find(std::span<const int64_t> path_ids, std::span<PathPlace> places);
  uint64_t generation() const { return generation_; }
  const PathEntry& at(PathPlace place) const { return entries_[place]; }
  // Places and names are less than these.
  size_t places() const { return entries_.size(); }
  size_t names() const { return name_count_; }

  // 0: of no path.
  Result<uint64_t> MeaningOf(int64_t path_id);
  // The nearest batch size that an annotation on the path names; none: 0.
  Result<int64_t> BatchOf(int64_t path_id);

 private:
  static constexpr size_t kBytesEach = 320;  // an entry, its bucket, and texts of its own
  struct Name {
    uint64_t hash = 0;
    int64_t batch = 0;                           // as the name of an annotation
    std::array<uint32_t, kHostKinds> numbers{};  // by kind; 0: not numbered yet
  };
  PathMeanings(SqliteStatement read, SqliteStatement name, SqliteStatement args,
               size_t entries_max);
  void Clear();
  Result<PathPlace> FindOne(int64_t path_id);
  // Fills unknown_ with what rows say themselves, up to a path that is known, or that is not there:
  // that one; 0 above the outermost.
  Result<int64_t> ReadUpwards(int64_t path_id);
  Status Append(PathEntry entry, PathPlace parent);
  Result<Name*> NameOf(int64_t event_name);
  Result<uint64_t> ArgsHashOf(int64_t args_text);
  size_t BucketOf(int64_t path_id) const;
  void Grow();

  SqliteStatement read_, name_, args_;
  size_t entries_max_;
  uint64_t generation_ = 0;
  std::vector<PathEntry> entries_;                // [0] stands for none
  std::vector<PathPlace> buckets_;                // by path; 0 is empty
  std::vector<PathEntry> unknown_;                // from a path upwards, while it is found
  std::unordered_map<int64_t, Name> texts_;       // by event name
  std::unordered_map<int64_t, uint64_t> hashes_;  // by args text
  std::unordered_map<uint64_t, uint32_t> names_;  // by hash of name and kind
  size_t name_count_ = 1;
};

// The batch size in a name such as "step[DECODE bs=32]", "capture_32_FULL", "bs_32_rank0.json.gz"
// or "execute_32_context_0(...)_generation_32(...)"; 0: it names none.
int64_t BatchInName(std::string_view name);

}  // namespace tracedb
