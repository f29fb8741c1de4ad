#include "ranks/stalls/cause_arrivals.h"

#include <algorithm>
#include <limits>
#include <optional>
#include <string>
#include <vector>

namespace tracedb {
namespace {

constexpr int64_t kLongAgo = std::numeric_limits<int64_t>::min() / 4;
// What is less puts nobody behind in a way that is worth remembering.
constexpr int64_t kLateNsMin = 50'000;

constexpr const char* kTablesSql =
    "CREATE TEMP TABLE stall (id INTEGER PRIMARY KEY, trace_id INTEGER, rank INTEGER, "
    "  group_id INTEGER, step INTEGER, first_start_ns INTEGER, start_ns INTEGER, wait_ns INTEGER, "
    "  together_ns INTEGER);"
    "CREATE TEMP TABLE late (trace_id INTEGER, start_ns INTEGER, own_id INTEGER, id INTEGER, "
    "  amount_ns INTEGER, PRIMARY KEY (trace_id, start_ns, own_id)) WITHOUT ROWID";

class Arrivals {
 public:
  Arrivals(SqliteStatement stall, SqliteStatement late)
      : stall_(std::move(stall)), late_(std::move(late)) {}

  struct Part {
    int64_t id;
    int64_t trace_id;
    int64_t rank;
    int64_t start_ns;  // by the aligned clocks
    int64_t dur_ns;
    std::optional<int64_t> step;
  };

  void Add(const Part& part) { parts_.push_back(part); }
  void BeginGroup() { together_ns_ = kLongAgo; }

  // All parts of a collective have been added.
  Status Finish(int64_t group_id) {
    // Several parts of one rank have no partner.
    const bool met = std::any_of(parts_.begin(), parts_.end(), [this](const Part& part) {
      return part.rank != parts_.front().rank;
    });
    const Status stored = met ? Store(group_id) : Status(Done{});
    parts_.clear();
    return stored;
  }

 private:
  Status Store(int64_t group_id) {
    const Part* last = &parts_.front();
    int64_t first_ns = last->start_ns;
    for (const Part& part : parts_) {
      first_ns = std::min(first_ns, part.start_ns);
      const bool later = part.start_ns > last->start_ns ||
                         (part.start_ns == last->start_ns && part.rank < last->rank);
      if (later) last = &part;
    }
    int64_t wait_ns = 0;
    bool together = true;  // a send whose data fits in a buffer ends before its recv begins
    for (const Part& part : parts_) {
      wait_ns = SumNs(wait_ns, DifferenceNs(last->start_ns, part.start_ns));
      together = together && SumNs(part.start_ns, part.dur_ns) >= last->start_ns;
    }
    if (wait_ns > 0) {
      TRACEDB_TRY(StoreStall(*last, group_id, first_ns, wait_ns));
      for (const Part& part : parts_) {
        const int64_t behind_ns =
            DifferenceNs(last->start_ns, &part == last ? first_ns : part.start_ns);
        if (behind_ns >= kLateNsMin) TRACEDB_TRY(StoreLate(part, *last, behind_ns));
      }
    }
    if (together) together_ns_ = last->start_ns;
    return Done{};
  }

  Status StoreStall(const Part& last, int64_t group_id, int64_t first_ns, int64_t wait_ns) {
    TRACEDB_TRY(stall_.Bind(1, last.id));
    TRACEDB_TRY(stall_.Bind(2, last.trace_id));
    TRACEDB_TRY(stall_.Bind(3, last.rank));
    TRACEDB_TRY(stall_.Bind(4, group_id));
    TRACEDB_TRY(last.step.has_value() ? stall_.Bind(5, *last.step) : stall_.BindNull(5));
    TRACEDB_TRY(stall_.Bind(6, first_ns));
    TRACEDB_TRY(stall_.Bind(7, last.start_ns));
    TRACEDB_TRY(stall_.Bind(8, wait_ns));
    TRACEDB_TRY(stall_.Bind(9, together_ns_));
    return stall_.Run();
  }

  Status StoreLate(const Part& part, const Part& last, int64_t amount_ns) {
    TRACEDB_TRY(late_.Bind(1, part.trace_id));
    TRACEDB_TRY(late_.Bind(2, last.start_ns));
    TRACEDB_TRY(late_.Bind(3, part.id));
    TRACEDB_TRY(late_.Bind(4, last.id));
    TRACEDB_TRY(late_.Bind(5, amount_ns));
    return late_.Run();
  }

  SqliteStatement stall_;
  SqliteStatement late_;
  std::vector<Part> parts_;  // of one collective
  int64_t together_ns_ = kLongAgo;
};

}  // namespace

Status CompareArrivals(SqliteDb& db, const RankClocks& clocks) {
  TRACEDB_TRY(db.Execute(kTablesSql));
  TRACEDB_ASSIGN(stall, db.Prepare("INSERT INTO temp.stall VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, "
                                   "?8, ?9)"));
  TRACEDB_ASSIGN(late, db.Prepare("INSERT INTO temp.late VALUES (?1, ?2, ?3, ?4, ?5)"));
  Arrivals arrivals(std::move(stall), std::move(late));
  TRACEDB_ASSIGN(rows, db.Prepare("SELECT group_id, pair, by_seq, match_no, id, rank, ts_ns, "
                                  "ifnull(max(dur_ns, 0), 0), step, capture_id, trace_id "
                                  "FROM _collective_part WHERE group_id IS NOT NULL "
                                  "ORDER BY capture_id, group_id, pair, by_seq, match_no, "
                                  "ts_ns DESC, rank"));
  bool any = false;
  int64_t capture_id = 0;
  int64_t group_id = 0;
  int64_t by_seq = 0;
  int64_t match_no = 0;
  std::string pair;
  for (;;) {
    TRACEDB_ASSIGN(row, rows.Step());
    if (!row) break;
    const bool same_group =
        any && rows.Int(9) == capture_id && rows.Int(0) == group_id && rows.Text(1) == pair;
    if (!same_group || rows.Int(2) != by_seq || rows.Int(3) != match_no) {
      if (any) TRACEDB_TRY(arrivals.Finish(group_id));
      if (!same_group) arrivals.BeginGroup();
      any = true;
      capture_id = rows.Int(9);
      group_id = rows.Int(0);
      pair = rows.Text(1);
      by_seq = rows.Int(2);
      match_no = rows.Int(3);
    }
    const int64_t ts_ns = rows.Int(6);
    const bool has_step = rows.Type(8) != SqlType::kNull;
    const int64_t trace_id = rows.Int(10);
    arrivals.Add({rows.Int(4), trace_id, rows.Int(5), SumNs(ts_ns, clocks.ShiftNs(trace_id, ts_ns)),
                  rows.Int(7), has_step ? std::optional(rows.Int(8)) : std::nullopt});
  }
  return any ? arrivals.Finish(group_id) : Status(Done{});
}

}  // namespace tracedb
