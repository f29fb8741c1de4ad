#include "replay/graph/recorder_holds.h"

#include <algorithm>
#include <iterator>
#include <limits>
#include <map>
#include <set>
#include <string>
#include <tuple>
#include <unordered_map>
#include <utility>

#include "tracedb/schema/event_tables.h"
#include "tracedb/schema/row_times.h"

namespace tracedb {
namespace {

constexpr int64_t kGoesOnMax = 1'000'000;  // ns from the slice's end to the thread's next boundary
// Of each part all processes are asked: of a trace of very many that takes longer than reading it.
constexpr size_t kProcessesMax = 64;
constexpr int64_t kBefore = std::numeric_limits<int64_t>::min();

// Other names are what the driver takes without a profiler too.
constexpr const char* kNamesSql =
    "SELECT id FROM _event_name WHERE id BETWEEN ?1 AND ?2 AND category = 'overhead' AND name IN "
    "('Activity Buffer Request', 'Buffer Flush', 'Instrumentation', 'Resource', 'UVM Activity "
    "Init')";

struct Overhead {
  int64_t end_ns;
  int64_t slice_id;
  int64_t start_ns;
};

struct Latest {  // boundary
  int64_t at_ns = kBefore;
  size_t thread = 0;
  bool is_shared = false;  // with another thread
};

// By process and overhead: up to that one's end, where it is after the end of the one before. There
// are as many as boundaries at most, however many threads and overheads.
using LatestOfProcess = std::map<std::pair<uint32_t, size_t>, Latest>;

struct Around {  // the end of an overhead
  size_t at = std::numeric_limits<size_t>::max();
  Latest* latest = nullptr;        // up to it; nullptr: after all of them
  int64_t* first_after = nullptr;  // after the one before; nullptr: there is none
};

// Of the trace, all of it after the overhead before `at` and not after that one's end.
struct Part {
  size_t at;
  int64_t end_ns;
  int64_t first_row, last_row;
};

using Place = std::tuple<size_t, uint32_t, size_t, int64_t>;  // overhead, process, thread, start

class HoldFinder {
 public:
  HoldFinder(SqliteDb& db, const CaptureTrace& trace, const std::vector<HostThread>& threads,
             const std::unordered_set<int64_t>& impossible, size_t holds_max)
      : db_(db), trace_(trace), threads_(threads), impossible_(impossible), holds_max_(holds_max) {}

  Result<std::vector<RecorderHold>> Find() {
    if (threads_.empty()) return std::vector<RecorderHold>{};
    TRACEDB_TRY(ReadOverheads());
    if (overheads_.empty()) return std::vector<RecorderHold>{};
    TRACEDB_TRY(ReadBoundaries());
    return Holds();
  }

 private:
  Status ReadOverheads() {
    std::string names;
    TRACEDB_ASSIGN(name, db_.Prepare(kNamesSql));
    TRACEDB_TRY(name.Bind(1, trace_.first_text));
    TRACEDB_TRY(name.Bind(2, trace_.last_text));
    for (;;) {
      TRACEDB_ASSIGN(any, name.Step());
      if (!any) break;
      names += (names.empty() ? "" : ",") + std::to_string(name.Int(0));
    }
    if (names.empty()) return Done{};
    TRACEDB_ASSIGN(
        rows, db_.Prepare("SELECT s.id, s.ts + t.base_ns, s.dur FROM _track t "
                          "CROSS JOIN _cpu_slice s INDEXED BY _cpu_slice_long "
                          "ON s.track = t.id WHERE t.id BETWEEN ?1 AND ?2 AND s.dur >= " +
                          std::to_string(kLongSliceNs) + " AND s.event_name IN (" + names + ")"));
    TRACEDB_TRY(rows.Bind(1, trace_.first_text));
    TRACEDB_TRY(rows.Bind(2, trace_.last_text));
    for (;;) {
      TRACEDB_ASSIGN(any, rows.Step());
      if (!any) break;
      if (impossible_.contains(rows.Int(0))) continue;
      overheads_.push_back({SumNs(rows.Int(1), rows.Int(2)), rows.Int(0), rows.Int(1)});
    }
    std::sort(overheads_.begin(), overheads_.end(), [](const Overhead& a, const Overhead& b) {
      return a.end_ns != b.end_ns ? a.end_ns < b.end_ns : a.slice_id < b.slice_id;
    });
    return Done{};
  }

  // All of them, or those of the parts of the trace that may have one that counts.
  Status ReadBoundaries() {
    for (size_t i = 0; i < threads_.size(); ++i) by_track_.emplace(threads_[i].track_id, i);
    around_.resize(threads_.size());
    for (const EventTable table : kLongSliceTables) {
      TRACEDB_ASSIGN(
          rows, db_.Prepare("SELECT id, track, ts, dur FROM " + std::string(EventTableName(table)) +
                            " WHERE id BETWEEN ?1 AND ?2 AND dur >= 0"));
      slices_.push_back(std::move(rows));
    }
    const auto parts = ReadRowTimes(db_, trace_.first_row, trace_.last_row);
    const int64_t base_ns = threads_.front().base_ns;
    const bool has_one_base = std::all_of(threads_.begin(), threads_.end(),
                                          [&](const auto& t) { return t.base_ns == base_ns; });
    if (!has_one_base || !parts.ok() || parts.value().empty()) {
      return ReadRows(trace_.first_row, trace_.last_row);
    }
    return ReadParts(parts.value(), base_ns);
  }

  // A boundary counts where it is the first after an overhead and soon after it, or the last up to
  // one. So of the parts between two overheads the ones that end last are enough.
  Status ReadParts(const std::vector<RowTimes>& parts, int64_t base_ns) {
    std::set<uint32_t> processes;
    for (const HostThread& thread : threads_) processes.insert(thread.process);
    if (processes.size() > kProcessesMax) return ReadRows(trace_.first_row, trace_.last_row);
    std::vector<Part> between;
    for (const RowTimes& part : parts) {
      if (part.start > part.end) continue;  // metadata
      const int64_t start_ns = SumNs(part.start, base_ns);
      const int64_t end_ns = SumNs(part.end, base_ns);
      const size_t at = FirstOverhead([&](const Overhead& o) { return o.end_ns >= start_ns; });
      const bool is_soon =
          at > 0 && DifferenceNs(start_ns, overheads_[at - 1].end_ns) <= kGoesOnMax;
      const bool is_before_one = at < overheads_.size() && end_ns <= overheads_[at].end_ns;
      if (is_soon || (at < overheads_.size() && !is_before_one)) {
        TRACEDB_TRY(ReadRows(part.first_row, part.last_row));
      } else if (is_before_one) {
        between.push_back({at, end_ns, part.first_row, part.last_row});
      }
    }
    std::sort(between.begin(), between.end(), [](const Part& a, const Part& b) {
      return a.at != b.at ? a.at < b.at : a.end_ns > b.end_ns;
    });
    for (const Part& part : between) {
      const bool may_have_last = std::any_of(processes.begin(), processes.end(), [&](uint32_t p) {
        const auto known = latest_.find({p, part.at});
        return known == latest_.end() || known->second.at_ns <= part.end_ns;
      });
      if (may_have_last) TRACEDB_TRY(ReadRows(part.first_row, part.last_row));
    }
    return Done{};
  }

  Status ReadRows(int64_t first_row, int64_t last_row) {
    auto thread = by_track_.end();
    for (SqliteStatement& rows : slices_) {
      rows.Reset();
      TRACEDB_TRY(rows.Bind(1, first_row));
      TRACEDB_TRY(rows.Bind(2, last_row));
      for (;;) {
        TRACEDB_ASSIGN(any, rows.Step());
        if (!any) break;
        const int64_t track = rows.Int(1);
        if (thread == by_track_.end() || thread->first != track) thread = by_track_.find(track);
        if (thread == by_track_.end()) continue;
        if (!impossible_.empty() && impossible_.contains(rows.Int(0))) continue;
        const int64_t start_ns = SumNs(rows.Int(2), threads_[thread->second].base_ns);
        See(thread->second, start_ns);
        See(thread->second, SumNs(start_ns, rows.Int(3)));
      }
    }
    return Done{};
  }

  void See(size_t thread, int64_t at_ns) {
    Around& around = around_[thread];  // most often where the thread's boundary before this one is
    if (!IsAt(around.at, at_ns)) {
      const size_t at = FirstOverhead([&](const Overhead& o) { return o.end_ns >= at_ns; });
      around.at = at;
      const bool has_end = at < overheads_.size();
      around.latest = has_end ? &latest_[{threads_[thread].process, at}] : nullptr;
      around.first_after =
          at == 0 ? nullptr : &first_after_.try_emplace({thread, at - 1}, at_ns).first->second;
    }
    if (around.first_after != nullptr) {
      *around.first_after = std::min(*around.first_after, at_ns);
    }
    if (around.latest == nullptr) return;
    if (at_ns > around.latest->at_ns) *around.latest = {at_ns, thread, false};
    if (at_ns == around.latest->at_ns && thread != around.latest->thread) {
      around.latest->is_shared = true;
    }
  }

  // The first overhead that ends then or later.
  bool IsAt(size_t at, int64_t at_ns) const {
    if (at > overheads_.size() || (at > 0 && overheads_[at - 1].end_ns >= at_ns)) return false;
    return at == overheads_.size() || overheads_[at].end_ns >= at_ns;
  }

  template <typename Reached>
  size_t FirstOverhead(const Reached& reached) const {
    const auto found = std::partition_point(overheads_.begin(), overheads_.end(),
                                            [&](const Overhead& o) { return !reached(o); });
    return static_cast<size_t>(found - overheads_.begin());
  }

  std::vector<RecorderHold> Holds() const {
    std::vector<Place> places;  // of holds
    for (auto latest = latest_.begin(); latest != latest_.end(); ++latest) {
      const auto next = std::next(latest);
      const bool is_last = next == latest_.end() || next->first.first != latest->first.first;
      AddPlaces(latest, is_last ? overheads_.size() : next->first.second, places);
    }
    std::sort(places.begin(), places.end());
    std::vector<RecorderHold> holds;
    for (const auto& [at, process, thread, start_ns] : places) {
      holds.push_back({thread, overheads_[at].slice_id, {start_ns, overheads_[at].end_ns}});
    }
    return holds;
  }

  // Up to the overhead `until` no thread of the process has a boundary that is later.
  void AddPlaces(LatestOfProcess::const_iterator found, size_t until,
                 std::vector<Place>& places) const {
    const auto& [process, from] = found->first;
    const Latest& latest = found->second;
    if (latest.is_shared || latest.at_ns == kBefore) return;
    const auto next = first_after_.lower_bound({latest.thread, from});
    if (next == first_after_.end() || next->first.first != latest.thread) return;
    const int64_t next_ns = next->second;
    const size_t soon = FirstOverhead([&](const Overhead& o) {
      return DifferenceNs(next_ns, o.end_ns) <= kGoesOnMax &&
             DifferenceNs(o.end_ns, latest.at_ns) >= kLongSliceNs;
    });
    for (size_t at = std::max(from, soon); at < until && places.size() <= holds_max_; ++at) {
      const int64_t start_ns = std::max(overheads_[at].start_ns, latest.at_ns);
      if (DifferenceNs(overheads_[at].end_ns, start_ns) < kLongSliceNs) continue;
      places.emplace_back(at, process, latest.thread, start_ns);
    }
  }

  SqliteDb& db_;
  const CaptureTrace& trace_;
  const std::vector<HostThread>& threads_;
  const std::unordered_set<int64_t>& impossible_;
  const size_t holds_max_;
  std::vector<Overhead> overheads_;  // by end, then slice_id
  LatestOfProcess latest_;
  // By thread and overhead: its first boundary after that one's end, where it is before the next's.
  std::map<std::pair<size_t, size_t>, int64_t> first_after_;
  std::vector<SqliteStatement> slices_;           // of a stretch of rows, by table
  std::unordered_map<int64_t, size_t> by_track_;  // threads
  std::vector<Around> around_;                    // by thread
};

}  // namespace

Result<std::vector<RecorderHold>> RecorderHolds(SqliteDb& db, const CaptureTrace& trace,
                                                const std::vector<HostThread>& threads,
                                                const std::unordered_set<int64_t>& impossible,
                                                size_t holds_max) {
  return HoldFinder(db, trace, threads, impossible, holds_max).Find();
}

}  // namespace tracedb
