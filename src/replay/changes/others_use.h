// What other ranks take for a slice of the host of one name in one step.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <utility>

#include "replay/graph/job_rows.h"
#include "tracedb/base/result.h"
#include "tracedb/base/sqlite_db.h"

namespace tracedb {

// The sums of all names that are asked for are read at once: each alone would be a pass over all
// names and steps of all ranks.
class OthersUse {
 public:
  // `ranks` are those that may be left out of the others.
  static Result<OthersUse> Read(SqliteDb& db, const JobRows& rows,
                                const std::set<std::string>& names, const std::set<int64_t>& ranks);

  // The mean over the ranks but these; 0: they have none. `but` are of those that Read was given.
  template <typename Ranks>
  int64_t MeanNs(const std::string& name, int64_t step, const Ranks& but) const {
    const auto all = sums_.find({name, step});
    if (all == sums_.end()) return 0;
    Sum of_others = all->second.all;
    for (const auto& [rank, slice] : but) {
      const auto own = all->second.by_rank.find(rank);
      if (own == all->second.by_rank.end()) continue;
      of_others.total_ns -= own->second.total_ns;
      of_others.calls -= own->second.calls;
    }
    return of_others.MeanNs();
  }

 private:
  __extension__ using Wide = __int128;
  struct Sum {
    Wide total_ns = 0;
    Wide calls = 0;
    int64_t MeanNs() const;
  };
  struct Sums {
    Sum all;
    std::map<int64_t, Sum> by_rank;
  };
  std::map<std::pair<std::string, int64_t>, Sums> sums_;  // by name and step
};

}  // namespace tracedb
