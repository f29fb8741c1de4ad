// The critical path as a track of its own: a process above all others, a thread for each capture,
// a slice for each stretch of the query critical_path.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "cut/cut_source.h"
#include "tracedb/base/result.h"
#include "tracedb/base/sqlite_db.h"

namespace tracedb {

class CutPath {
 public:
  // What of the path reaches into the window, of all ranks, whichever are in the cut; `sql` is that
  // query's. With `clip` stretches end at the window's edges. `largest_pid`: of the processes that
  // are written, where they have new ids.
  static Result<CutPath> Read(SqliteDb& db, const std::string& sql, const CutSources& sources,
                              bool clip, int64_t largest_pid);

  // How long it is, in slices.
  int64_t size() const { return static_cast<int64_t>(stretches_.size()); }
  // The longest stay, in their order. Returns for a person what does not; empty where all stay.
  std::string KeepLongest(int64_t most);
  // Metadata, then slices; one event a text. None where there is no slice.
  std::vector<std::string> Events(const CutSources& sources) const;

 private:
  struct Stretch {
    int64_t capture = 0;
    int64_t start_ns = 0;  // on the scale of the output
    int64_t dur_ns = 0;
    std::string name_json, args_json;
  };
  static Stretch StretchOf(const SqliteStatement& row, int64_t start_ns, int64_t end_ns);

  std::vector<Stretch> stretches_;      // by capture, then time
  std::map<int64_t, int64_t> threads_;  // tid by capture
  int64_t pid_ = 0;
  int64_t sort_index_ = 0;
};

}  // namespace tracedb
