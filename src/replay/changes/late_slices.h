// What made ranks late for their collectives, and by how much longer than on other ranks it took.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include "replay/graph/job_rows.h"
#include "tracedb/base/result.h"
#include "tracedb/base/sqlite_db.h"

namespace tracedb {

struct LateSlice {
  int64_t slice_id;
  int64_t late_ns;  // at most what it takes longer than on other ranks
};

// By trace and step: what begins from then on.
using StepEnds = std::map<std::pair<uint32_t, int64_t>, int64_t>;

struct Lateness {
  std::vector<LateSlice> slices;
  std::set<int64_t> late_in;     // steps in which they lost what they came late by
  std::set<int64_t> steps;       // the same, and those in which a slice held a host
  StepEnds ends;                 // from when on they may have lost time in other steps
  StepEnds peer_ends;            // the same moments of the other ranks
  std::set<int64_t> slow_ranks;  // who came late by more than their hosts
};

class GpuWork;

// Of these ranks of the capture whose rows these are, looked at together. MODEL.md, "lateness of
// ranks".
Result<Lateness> LatenessOf(SqliteDb& db, const JobRows& rows, const std::set<int64_t>& ranks,
                            GpuWork& gpu_work);

}  // namespace tracedb
