#include "ranks/clocks/collective_ends.h"

#include <algorithm>
#include <optional>
#include <string>
#include <unordered_map>

namespace tracedb {
namespace {

constexpr int64_t kPartsOfRankMax = 2000;  // of a group; more say no more
constexpr size_t kDifferencesMax = 200'000;
constexpr int64_t kTimeMax = int64_t{1}
                             << 61;  // what is beyond is no time, and sums would overflow

struct Group {
  int64_t id = 0;
  int64_t stride = 1;
};

// In the order of their ids. There may be as many as parts.
Result<SqliteStatement> ReadGroups(SqliteDb& db, int64_t capture_id) {
  TRACEDB_ASSIGN(rows, db.Prepare("SELECT p.group_id, p.parts, ifnull(g.size, 0) FROM "
                                  "(SELECT group_id, count(*) AS parts FROM _collective_part "
                                  " WHERE capture_id = ?1 AND group_id IS NOT NULL "
                                  " GROUP BY group_id) p "
                                  "LEFT JOIN _process_group g ON g.group_id = p.group_id "
                                  "WHERE p.parts > 1 ORDER BY p.group_id"));
  TRACEDB_TRY(rows.Bind(1, capture_id));
  return rows;
}

Group GroupIn(const SqliteStatement& row, size_t ranks) {
  const auto all = static_cast<int64_t>(ranks);
  const int64_t members = row.Int(2) > 0 ? std::min(row.Int(2), all) : all;
  const int64_t wanted = kPartsOfRankMax * std::max<int64_t>(members, 1);
  return {row.Int(0), std::max<int64_t>(1, row.Int(1) / wanted)};
}

// Which collectives are read: a multiple of a number that collectives repeat after would always
// meet the same one of a layer, so the numbers are stirred first.
constexpr const char* kEndsSql =
    "SELECT pair, by_seq, match_no, trace_id, collective, ts_ns, dur_ns FROM _collective_part "
    "WHERE capture_id = ?3 AND group_id = ?1 AND ((match_no & 16777215) * 40503 >> 7) % ?2 = 0 "
    "ORDER BY pair, by_seq, match_no";

class EndReader {
 public:
  explicit EndReader(const std::vector<RankHost>& ranks) : differences_(kDifferencesMax) {
    for (size_t i = 0; i < ranks.size(); ++i) {
      places_.emplace(ranks[i].trace_id, static_cast<int32_t>(i));
    }
  }

  Status ReadGroup(SqliteStatement& rows, int64_t capture_id, const Group& group) {
    TRACEDB_TRY(rows.Bind(1, group.id));
    TRACEDB_TRY(rows.Bind(2, group.stride));
    TRACEDB_TRY(rows.Bind(3, capture_id));
    for (;;) {
      TRACEDB_ASSIGN(row, rows.Step());
      if (!row) break;
      const bool is_same =
          rows.Int(2) == match_no_ && rows.Int(1) == by_seq_ && rows.Text(0) == pair_;
      if (!is_same) Finish();
      pair_ = rows.Text(0);
      by_seq_ = rows.Int(1);
      match_no_ = rows.Int(2);
      AddPart(rows);
    }
    Finish();
    rows.Reset();
    return Done{};
  }

  std::vector<RankPair> Take() { return differences_.Take(); }

 private:
  void AddPart(const SqliteStatement& row) {
    const auto place = places_.find(row.Int(3));
    const int64_t ts_ns = row.Int(5);
    const int64_t dur_ns = row.Int(6);
    const bool has_end = row.Type(6) != SqlType::kNull && dur_ns >= 0 && dur_ns < kTimeMax &&
                         ts_ns > -kTimeMax && ts_ns < kTimeMax;
    if (!has_end || place == places_.end()) return;
    if (row.Text(4) != name_ || !is_named_) {
      name_ = row.Text(4);
      role_ = EndRoleOf(name_);
      is_named_ = true;
    }
    if (!role_.has_value()) return;
    if (role_ == EndRole::kTogether) {
      if (!together_.empty() && together_ != name_) is_mixed_ = true;
      together_ = name_;
    }
    parts_.push_back({place->second, *role_, ts_ns + dur_ns});
  }

  void Finish() {
    // Different collectives of one number were not one: ranks count differently.
    if (!is_mixed_) differences_.AddCollective(parts_);
    parts_.clear();
    together_.clear();
    is_mixed_ = false;
  }

  EndDifferences differences_;
  std::unordered_map<int64_t, int32_t> places_;  // by trace
  std::vector<CollectiveEnd> parts_;             // of one collective
  std::string pair_;
  int64_t by_seq_ = 0;
  int64_t match_no_ = 0;
  std::string name_;  // the last one met, and what it means
  std::optional<EndRole> role_;
  bool is_named_ = false;
  std::string together_;
  bool is_mixed_ = false;
};

}  // namespace

Result<std::vector<RankHost>> ReadRankHosts(SqliteDb& db, int64_t capture_id) {
  std::vector<RankHost> ranks;
  TRACEDB_ASSIGN(rows, db.Prepare("SELECT trace_id, rank, nullif(host, '') FROM _trace "
                                  "WHERE capture_id = ?1 ORDER BY rank"));
  TRACEDB_TRY(rows.Bind(1, capture_id));
  for (;;) {
    TRACEDB_ASSIGN(row, rows.Step());
    if (!row) return ranks;
    RankHost& rank = ranks.emplace_back();
    rank.trace_id = rows.Int(0);
    rank.rank = rows.Int(1);
    if (rows.Type(2) != SqlType::kNull) rank.host = std::string(rows.Text(2));
  }
}

Result<std::vector<RankPair>> ReadEndDifferences(SqliteDb& db, int64_t capture_id,
                                                 const std::vector<RankHost>& ranks) {
  TRACEDB_ASSIGN(groups, ReadGroups(db, capture_id));
  EndReader reader(ranks);
  TRACEDB_ASSIGN(rows, db.Prepare(kEndsSql));
  for (;;) {
    TRACEDB_ASSIGN(row, groups.Step());
    if (!row) return reader.Take();
    TRACEDB_TRY(reader.ReadGroup(rows, capture_id, GroupIn(groups, ranks.size())));
  }
}

}  // namespace tracedb
