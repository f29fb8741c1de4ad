#include "ranks/stalls/cause_chains.h"

#include <algorithm>
#include <vector>

namespace tracedb {
namespace {

// Clocks that differ can make a ring of a chain; a chain has an end for every question.
constexpr size_t kDepthMax = 1000;

class Chains {
 public:
  Chains(SqliteStatement carried, SqliteStatement next)
      : carried_(std::move(carried)), next_(std::move(next)) {}

  // The row whose cause a row has, and the row at the end of the chain; a ring ends before it
  // closes.
  Result<int64_t> Origin(int64_t id) { return Follow(carried_, id); }
  Result<int64_t> Root(int64_t id) { return Follow(next_, id); }

 private:
  Result<int64_t> Follow(SqliteStatement& next, int64_t id) {
    met_.clear();
    while (met_.size() < kDepthMax) {
      met_.push_back(id);
      TRACEDB_TRY(next.Bind(1, id));
      TRACEDB_ASSIGN(row, next.Step());
      const int64_t to = row ? next.Int(0) : 0;
      next.Reset();
      if (to == 0 || std::find(met_.begin(), met_.end(), to) != met_.end()) break;
      id = to;
    }
    return id;
  }

  SqliteStatement carried_;
  SqliteStatement next_;
  std::vector<int64_t> met_;
};

}  // namespace

Status FollowChains(SqliteDb& db) {
  // Only to rows that are there: a carried_id always is, as it was one that made somebody wait.
  TRACEDB_ASSIGN(carried, db.Prepare("SELECT n.id FROM _collective_cause c "
                                     "JOIN _collective_cause n "
                                     "ON n.id = c.carried_id WHERE c.id = ?1"));
  TRACEDB_ASSIGN(next, db.Prepare("SELECT n.id FROM _collective_cause c "
                                  "JOIN _collective_cause n "
                                  "ON n.id = coalesce(c.carried_id, c.upstream_id) "
                                  "WHERE c.id = ?1"));
  Chains chains(std::move(carried), std::move(next));
  TRACEDB_ASSIGN(copy,
                 db.Prepare("UPDATE _collective_cause SET (cause, cause_slice_id, cause_name, "
                            "upstream_id) = (SELECT cause, cause_slice_id, cause_name, "
                            "upstream_id FROM _collective_cause WHERE id = ?2) WHERE id = ?1"));
  TRACEDB_ASSIGN(root,
                 db.Prepare("UPDATE _collective_cause SET root_id = ?2, (root_rank, root_cause, "
                            "root_name) = (SELECT iif(cause IS 'schedule' OR (cause IS "
                            "'upstream' AND upstream_id IS NULL), NULL, rank), "
                            "nullif(cause, 'upstream'), cause_name "
                            "FROM _collective_cause WHERE id = ?2) WHERE id = ?1"));
  // Both passes over what was there before them: a row that is changed is not met again.
  for (const bool carry : {true, false}) {
    TRACEDB_ASSIGN(rows, db.Prepare(carry ? "SELECT id FROM _collective_cause WHERE carried_id IS "
                                            "NOT NULL ORDER BY id"
                                          : "SELECT id FROM _collective_cause ORDER BY id"));
    for (;;) {
      TRACEDB_ASSIGN(row, rows.Step());
      if (!row) break;
      const int64_t id = rows.Int(0);
      TRACEDB_ASSIGN(to, carry ? chains.Origin(id) : chains.Root(id));
      SqliteStatement& change = carry ? copy : root;
      TRACEDB_TRY(change.Bind(1, id));
      TRACEDB_TRY(change.Bind(2, to));
      TRACEDB_TRY(change.Run());
    }
  }
  return Done{};
}

}  // namespace tracedb
