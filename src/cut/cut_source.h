// The traces of a run that a cut takes events from, and how their times compare.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "tracedb/base/interval.h"
#include "tracedb/base/result.h"
#include "tracedb/base/sqlite_db.h"
#include "tracedb/schema/rank_clock.h"

namespace tracedb {

struct CutSource {
  int64_t trace_id = 0;
  int64_t capture = 0;  // its number in the run
  int64_t capture_id = 0;
  int64_t rank = 0;
  int64_t first_row = 0;  // of its events
  int64_t last_row = 0;
  int64_t base_ns = 0;       // what to add to an event's ts
  int64_t file_base_ns = 0;  // the header's baseTimeNanoseconds, else 0
  std::optional<int64_t> start_ns, end_ns;
  std::optional<Interval> window;  // by its own clock; none: everything
};

// An absolute time as rows of the trace have it; at the ends of what fits where it does not.
int64_t TimeInRows(const CutSource& trace, int64_t ts_ns);

// "0,3..5" as rank numbers: [first, last] each.
Result<std::vector<std::pair<int64_t, int64_t>>> ParseRanks(std::string_view text);

struct CutSelection {  // as in CutOptions
  std::string run;
  std::optional<int64_t> capture;
  std::string ranks;
};

class CutSources {
 public:
  // Of each run that has some of what is selected, by name. kInput when the database has none.
  static Result<std::vector<CutSources>> Read(SqliteDb& db, const CutSelection& selection);

  const std::string& run() const { return run_; }
  const std::vector<CutSource>& traces() const { return traces_; }
  bool HasManyRanks() const { return traces_.front().rank != traces_.back().rank; }
  bool HasManyTraces() const { return traces_.size() > 1; }
  std::vector<int64_t> Captures() const;  // their numbers, in order
  std::string TraceIdList() const;        // for SQL: "1,2,3"

  // The scale of what is written: of one rank its own clock, of several the aligned one.
  int64_t OutputTime(const CutSource& trace, int64_t ts_ns) const;
  // A time by the clock of any trace of the run.
  int64_t FromTrace(int64_t trace_id, int64_t capture_id, int64_t ts_ns) const;
  int64_t FromAligned(int64_t capture_id, int64_t aligned_ns) const;
  // What is written as ts 0.
  int64_t OutputBase() const { return output_base_ns_; }
  // When the first event begins, and the last one ends; none where there is no event.
  std::optional<Interval> Span() const;

  // Gives each trace the window, which is of the output's scale.
  void SetWindow(const Interval& window);
  // As well, to each its capture's; traces of other captures are no source any more.
  void SetWindows(const std::map<int64_t, Interval>& by_capture_id);
  // As it was set, on the output's scale; none: everything.
  std::optional<Interval> WindowOf(int64_t capture_id) const;
  bool HasSomethingInWindow() const;
  // Only captures that have something in the window stay; all of them where none has.
  void DropCapturesOutside();

 private:
  Interval OwnWindow(const CutSource& trace, const Interval& window) const;
  void KeepCaptures(const std::set<int64_t>& capture_ids);
  void ChooseBase();

  std::string run_;
  std::vector<CutSource> traces_;        // by rank, then as they were ingested
  std::map<int64_t, Interval> windows_;  // by capture_id
  RankClocks clocks_;
  int64_t output_base_ns_ = 0;
};

}  // namespace tracedb
