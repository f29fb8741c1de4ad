#include "ranks/stalls/peer_excess.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "tracedb/base/interval.h"

namespace tracedb {
namespace {

// Each trace has event names of its own: told apart by their texts, in whose order they come.
std::string UsedSql(const std::string& uses) {
  return "CREATE TEMP TABLE peer_use AS SELECT u.capture_id, ifnull(u.step, -1) AS step, "
         "  u.event_name, u.rank, sum(u.ns) AS ns FROM (" +
         uses +
         ") u WHERE (u.capture_id, ifnull(u.step, -1)) IN (SELECT capture_id, step "
         "  FROM temp.peer_key) GROUP BY 1, 2, 3, 4;"
         "CREATE TEMP TABLE peer_name (id INTEGER PRIMARY KEY, place INTEGER);"
         "INSERT INTO temp.peer_name SELECT id, dense_rank() OVER (ORDER BY name) "
         "  FROM _event_name WHERE id IN (SELECT event_name FROM temp.peer_use);"
         "CREATE TEMP TABLE peer_time (capture_id INTEGER, step INTEGER, place INTEGER, "
         "  rank INTEGER, ns INTEGER, event_name INTEGER, "
         "  PRIMARY KEY (capture_id, step, place, rank)) WITHOUT ROWID;"
         "INSERT INTO temp.peer_time SELECT u.capture_id, u.step, n.place, u.rank, sum(u.ns), "
         "  min(u.event_name) FROM temp.peer_use u JOIN temp.peer_name n ON n.id = u.event_name "
         "  GROUP BY 1, 2, 3, 4;"
         "DROP TABLE temp.peer_use; DROP TABLE temp.peer_name";
}

std::string IntoSql(const std::string& into) {
  return "CREATE TEMP TABLE " + into +
         " (capture_id INTEGER, step INTEGER, group_id INTEGER, rank INTEGER, "
         "  work_ns INTEGER, total_ns INTEGER, most_ns INTEGER, most INTEGER, "
         "  alone_ns INTEGER, alone INTEGER, least_ns INTEGER, least INTEGER, "
         "  PRIMARY KEY (capture_id, step, group_id, rank)) WITHOUT ROWID";
}

// One step of one capture.
class StepPeers {
 public:
  // The longest of some times, and its name.
  struct Longest {
    void Note(int64_t time_ns, int64_t of_name) {
      if (time_ns <= ns) return;
      ns = time_ns;
      event_name = of_name;
    }
    int64_t ns = 0;
    int64_t event_name = 0;
  };
  struct Asked {
    Asked(int64_t of_rank, size_t place) : rank(of_rank), at(place) {}
    int64_t rank;
    size_t at;  // its place among the ranks of the step
    int64_t work_ns = 0;
    int64_t total_ns = 0;
    int64_t total_to_least_ns = 0;
    int64_t alone_ns = 0;
    Longest most, alone, least;
  };
  struct Group {
    int64_t id;
    std::vector<size_t> members;  // places
    std::vector<Asked> asked;
  };

  // In the order of the ranks.
  void AddRank(int64_t rank, int64_t total_ns) {
    place_of_.emplace(rank, totals_.size());
    totals_.push_back(total_ns);
    times_.push_back(0);
    names_.push_back(0);
  }
  void AddMember(int64_t group_id, int64_t rank, bool is_asked) {
    if (groups_.empty() || groups_.back().id != group_id) groups_.push_back({group_id, {}, {}});
    const auto at = place_of_.find(rank);
    if (at == place_of_.end()) return;
    groups_.back().members.push_back(at->second);
    if (is_asked) groups_.back().asked.emplace_back(rank, at->second);
  }

  void AddTime(int64_t rank, int64_t ns, int64_t event_name) {
    const auto at = place_of_.find(rank);
    if (at == place_of_.end()) return;
    times_[at->second] = ns;
    names_[at->second] = event_name;
  }
  // All times of one name have been added.
  void FinishName() {
    Compare(times_, [this](Asked& asked, int64_t own_ns, int64_t middle_ns, int64_t least_ns) {
      const int64_t event_name = names_[asked.at];
      asked.most.Note(DifferenceNs(own_ns, middle_ns), event_name);
      asked.least.Note(DifferenceNs(own_ns, least_ns), event_name);
      if (middle_ns > 0 || own_ns <= 0) return;
      asked.alone.Note(own_ns, event_name);
      asked.alone_ns = SumNs(asked.alone_ns, own_ns);
    });
    std::fill(times_.begin(), times_.end(), 0);
  }
  void FinishTotals() {
    Compare(totals_, [](Asked& asked, int64_t own_ns, int64_t middle_ns, int64_t least_ns) {
      asked.work_ns = own_ns;
      asked.total_ns = DifferenceNs(own_ns, middle_ns);
      asked.total_to_least_ns = DifferenceNs(own_ns, least_ns);
    });
  }

  const std::vector<Group>& groups() const { return groups_; }

 private:
  template <typename Take>
  void Compare(const std::vector<int64_t>& all, Take take) {
    for (Group& group : groups_) {
      if (group.members.size() < 2) continue;
      sorted_.clear();
      for (const size_t at : group.members) sorted_.push_back(all[at]);
      std::sort(sorted_.begin(), sorted_.end());
      // Without the own one, the middle is one place further up if that is below it.
      const size_t middle = (sorted_.size() - 2) / 2;
      for (Asked& asked : group.asked) {
        const int64_t own_ns = all[asked.at];
        take(asked, own_ns, sorted_[middle + (own_ns <= sorted_[middle] ? 1 : 0)],
             sorted_[own_ns <= sorted_[0] ? 1 : 0]);
      }
    }
  }

  std::map<int64_t, size_t> place_of_;
  std::vector<int64_t> totals_;
  std::vector<int64_t> times_;  // of one name
  std::vector<int64_t> names_;  // that it has in the trace of each rank
  std::vector<Group> groups_;
  std::vector<int64_t> sorted_;
};

constexpr const char* kRanksSql =
    "SELECT rank, sum(ns) FROM temp.peer_time WHERE capture_id = ?1 AND step = ?2 GROUP BY rank "
    "ORDER BY rank";
constexpr const char* kMembersSql =
    "SELECT g.group_id, j.value, EXISTS (SELECT 1 FROM temp.peer_key o WHERE o.capture_id = ?1 "
    "  AND o.step = ?2 AND o.group_id = g.group_id AND o.rank = j.value) "
    "FROM (SELECT DISTINCT group_id FROM temp.peer_key WHERE capture_id = ?1 AND step = ?2) k "
    "CROSS JOIN _process_group g ON g.group_id = k.group_id, json_each(g.ranks) j "
    "GROUP BY g.group_id, j.value ORDER BY g.group_id, j.value";
constexpr const char* kTimesSql =
    "SELECT place, rank, ns, event_name FROM temp.peer_time WHERE capture_id = ?1 AND step = ?2 "
    "ORDER BY place, rank";

Status BindPlace(SqliteStatement& statement, int64_t capture_id, int64_t step) {
  TRACEDB_TRY(statement.Bind(1, capture_id));
  return statement.Bind(2, step);
}

class PeerReader {
 public:
  static Result<PeerReader> Open(SqliteDb& db, const std::string& into) {
    TRACEDB_ASSIGN(ranks, db.Prepare(kRanksSql));
    TRACEDB_ASSIGN(members, db.Prepare(kMembersSql));
    TRACEDB_ASSIGN(times, db.Prepare(kTimesSql));
    TRACEDB_ASSIGN(insert, db.Prepare("INSERT INTO temp." + into +
                                      " VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, "
                                      "?8, ?9, ?10, ?11, ?12)"));
    return PeerReader(std::move(ranks), std::move(members), std::move(times), std::move(insert));
  }

  Status Compare(int64_t capture_id, int64_t step) {
    StepPeers peers;
    TRACEDB_TRY(BindPlace(ranks_, capture_id, step));
    TRACEDB_TRY(ForEach(ranks_, [&] { peers.AddRank(ranks_.Int(0), ranks_.Int(1)); }));
    TRACEDB_TRY(BindPlace(members_, capture_id, step));
    TRACEDB_TRY(ForEach(members_, [&] {
      peers.AddMember(members_.Int(0), members_.Int(1), members_.Int(2) != 0);
    }));
    TRACEDB_TRY(BindPlace(times_, capture_id, step));
    int64_t place = 0;  // the first is 1
    TRACEDB_TRY(ForEach(times_, [&] {
      if (times_.Int(0) != place && place != 0) peers.FinishName();
      place = times_.Int(0);
      peers.AddTime(times_.Int(1), times_.Int(2), times_.Int(3));
    }));
    if (place != 0) peers.FinishName();
    peers.FinishTotals();
    return Store(capture_id, step, peers);
  }

 private:
  PeerReader(SqliteStatement ranks, SqliteStatement members, SqliteStatement times,
             SqliteStatement insert)
      : ranks_(std::move(ranks)),
        members_(std::move(members)),
        times_(std::move(times)),
        insert_(std::move(insert)) {}

  template <typename Take>
  static Status ForEach(SqliteStatement& rows, Take take) {
    for (;;) {
      TRACEDB_ASSIGN(row, rows.Step());
      if (!row) break;
      take();
    }
    rows.Reset();
    return Done{};
  }

  Status Store(int64_t capture_id, int64_t step, const StepPeers& peers) {
    for (const StepPeers::Group& group : peers.groups()) {
      if (group.members.size() < 2) continue;
      for (const StepPeers::Asked& asked : group.asked) {
        TRACEDB_TRY(BindPlace(insert_, capture_id, step));
        int at = 2;
        for (const int64_t value :
             {group.id, asked.rank, asked.work_ns, asked.total_ns, asked.most.ns,
              asked.most.event_name, asked.alone_ns, asked.alone.event_name,
              std::max(asked.total_to_least_ns, asked.least.ns), asked.least.event_name}) {
          TRACEDB_TRY(insert_.Bind(++at, value));
        }
        TRACEDB_TRY(insert_.Run());
      }
    }
    return Done{};
  }

  SqliteStatement ranks_, members_, times_, insert_;
};

}  // namespace

Status ComparePeers(SqliteDb& db, const std::string& uses, const std::string& into) {
  TRACEDB_TRY(db.Execute(IntoSql(into)));
  TRACEDB_ASSIGN(any, db.Integer("SELECT EXISTS (SELECT 1 FROM temp.peer_key)"));
  if (any == 0) return Done{};
  TRACEDB_TRY(db.Execute(UsedSql(uses)));
  {
    TRACEDB_ASSIGN(reader, PeerReader::Open(db, into));
    TRACEDB_ASSIGN(steps, db.Prepare("SELECT DISTINCT capture_id, step FROM temp.peer_key"));
    for (;;) {
      TRACEDB_ASSIGN(row, steps.Step());
      if (!row) break;
      TRACEDB_TRY(reader.Compare(steps.Int(0), steps.Int(1)));
    }
  }
  return db.Execute("DROP TABLE temp.peer_time");
}

}  // namespace tracedb
