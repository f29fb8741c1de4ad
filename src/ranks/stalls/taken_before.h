// How long a rank's device had run kernels of a name when it came last to a collective: what ran
// afterwards did not make it late.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <tuple>
#include <utility>
#include <vector>

#include "ranks/stalls/cause_earliest.h"
#include "ranks/stalls/stall.h"
#include "tracedb/base/result.h"
#include "tracedb/base/sqlite_db.h"

namespace tracedb {

// By how much a rank's kernels took longer than those of others, over a whole step.
struct LongerKernels {
  int64_t total_ns = 0;    // all of them
  int64_t most_ns = 0;     // those of the name for which it is most
  int64_t event_name = 0;  // 0: there is none
};

class TakenBefore {
 public:
  static Result<TakenBefore> Open(SqliteDb& db);

  // Whether they may be half of what the rank was late by when it came, at `own_start_ns` by its
  // own clock. Also where it is not known when they ran.
  Result<bool> Explains(const Stall& stall, int64_t own_start_ns, const LongerKernels& longer,
                        EarliestStart& steps);

 private:
  // How long kernels of the name took since the stall's step began. Nothing where that is not
  // known: outside of steps, where the database has none of them in this step and the next, as one
  // of summaries, and where it has very many.
  Result<std::optional<int64_t>> Find(const Stall& stall, int64_t own_start_ns, int64_t event_name,
                                      EarliestStart& steps);

  // Of the kernels of a name, in the order of their starts.
  struct Kernels {
    std::vector<int64_t> start_ns;
    std::vector<int64_t> sum_ns;  // of those up to this one
  };

  // Trace, device, step and name.
  using Key = std::tuple<int64_t, int64_t, int64_t, int64_t>;

  TakenBefore(SqliteStatement kernels, SqliteStatement device)
      : kernels_(std::move(kernels)), device_(std::move(device)) {}
  Result<Kernels> Read(const Key& key, int64_t begin_ns, int64_t end_ns);

  SqliteStatement kernels_, device_;
  std::map<Key, Kernels> known_;
  int64_t known_count_ = 0;  // of kernels
};

}  // namespace tracedb
