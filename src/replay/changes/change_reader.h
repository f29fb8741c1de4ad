// The changes of a job, from JSON (replay_changes.h says what there is).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_set>
#include <vector>

#include "tracedb/base/result.h"
#include "tracedb/base/sqlite_db.h"

namespace tracedb {

// One object of the array; texts are empty where they are not said.
struct Change {
  std::string name, like, glob, kind, transfers, caller, pair, waits, balance, held_by, ideal,
      untold;
  std::optional<int64_t> rank, step, slice, shorten_ns, launch_latency_ns, rank_late, except_rank;
  std::optional<double> short_host, recorder;
  double factor = 0;

  bool operator==(const Change&) const = default;
  bool names_slices() const { return !name.empty() || !like.empty() || !glob.empty(); }
};

Error NotUnderstood(const std::string& why);

// Empty text is no change.
Result<std::vector<Change>> ReadChanges(SqliteDb& db, std::string_view text);

// The events' names that it means, by number.
Result<std::unordered_set<int64_t>> NamesOf(SqliteDb& db, const Change& change);

}  // namespace tracedb
