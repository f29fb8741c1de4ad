#include "tracedb/derive/collectives/derive_groups.h"

namespace tracedb {
namespace {

int64_t CountRanks(std::string_view ranks) {
  int64_t count = 1;
  for (const char c : ranks) count += c == ',' ? 1 : 0;
  return count;
}

// Of a group that is there already.
constexpr const char* kFirstDescription =
    "ON CONFLICT (run_id, name, ranks) DO UPDATE SET "
    "  description = excluded.description, parallelism = excluded.parallelism "
    "WHERE description = ''";

class GroupTable {
 public:
  static Result<GroupTable> Open(SqliteDb& db, const ParallelismRules& rules) {
    TRACEDB_ASSIGN(insert,
                   db.Prepare("INSERT INTO _process_group (run_id, name, ranks, description, size, "
                              "  parallelism) VALUES (?1, ?2, ?3, ?4, ?5, ?6) " +
                              std::string(kFirstDescription)));
    return GroupTable(std::move(insert), rules);
  }

  Status Add(int64_t run_id, const HeaderGroup& group) {
    if (group.ranks.empty()) return Done{};
    const auto parallelism = static_cast<size_t>(rules_->Of(group.description));
    TRACEDB_TRY(insert_.Bind(1, run_id));
    TRACEDB_TRY(insert_.Bind(2, std::string_view(group.name)));
    TRACEDB_TRY(insert_.Bind(3, std::string_view(group.ranks)));
    TRACEDB_TRY(insert_.Bind(4, std::string_view(group.description)));
    TRACEDB_TRY(insert_.Bind(5, group.size != 0 ? group.size : CountRanks(group.ranks)));
    TRACEDB_TRY(insert_.Bind(6, kParallelismNames[parallelism]));
    return insert_.Run();
  }

 private:
  GroupTable(SqliteStatement insert, const ParallelismRules& rules)
      : insert_(std::move(insert)), rules_(&rules) {}

  SqliteStatement insert_;
  const ParallelismRules* rules_;
};

// Where a kernel's own list of ranks is missing or shortened, the header's first group of that name
// has it.
Status CompleteRanks(SqliteDb& db, const std::vector<HeaderGroup>& groups) {
  if (groups.empty()) return Done{};
  TRACEDB_TRY(db.Execute("CREATE TEMP TABLE header_group (name TEXT PRIMARY KEY, ranks TEXT)"));
  TRACEDB_ASSIGN(insert, db.Prepare("INSERT OR IGNORE INTO temp.header_group VALUES (?1, ?2)"));
  for (const HeaderGroup& group : groups) {
    if (group.ranks.empty()) continue;
    TRACEDB_TRY(insert.Bind(1, std::string_view(group.name)));
    TRACEDB_TRY(insert.Bind(2, std::string_view(group.ranks)));
    TRACEDB_TRY(insert.Run());
  }
  return db.Execute(
      "UPDATE _args_text AS a SET group_ranks = "
      "  (SELECT h.ranks FROM temp.header_group h WHERE h.name = a.group_name) "
      "WHERE a.group_name IS NOT NULL AND a.group_ranks IS NULL;"
      "DROP TABLE temp.header_group");
}

// Puts the groups `from` (SQL over the columns of _process_group) into main._process_group under
// the run, and says in temp.group_move what has become of which.
Status MoveGroups(SqliteDb& db, const std::string& from, int64_t run_id) {
  const std::string run = std::to_string(run_id);
  return db.Execute(
      "CREATE TEMP TABLE group_move (from_id INTEGER PRIMARY KEY, to_id INTEGER);"
      "INSERT INTO main._process_group (run_id, name, ranks, description, size, parallelism) "
      "SELECT " +
      run + ", name, ranks, description, size, parallelism FROM " + from +
      " AS f WHERE true ORDER BY f.group_id " + kFirstDescription +
      "; INSERT INTO temp.group_move SELECT f.group_id, g.group_id FROM " + from +
      " AS f JOIN main._process_group g ON g.run_id = " + run +
      " AND g.name = f.name AND g.ranks = f.ranks");
}

}  // namespace

Status DeriveGroups(SqliteDb& db, int64_t trace_id, const std::vector<HeaderGroup>& groups,
                    const ParallelismRules& rules) {
  TRACEDB_ASSIGN(table, GroupTable::Open(db, rules));
  for (const HeaderGroup& group : groups) TRACEDB_TRY(table.Add(trace_id, group));
  TRACEDB_TRY(CompleteRanks(db, groups));
  TRACEDB_ASSIGN(met, db.Prepare("SELECT DISTINCT ifnull(group_name, ''), "
                                 "  ifnull(group_description, ''), group_ranks "
                                 "FROM _args_text WHERE group_ranks IS NOT NULL ORDER BY 1, 2, 3"));
  for (;;) {
    TRACEDB_ASSIGN(row, met.Step());
    if (!row) break;
    TRACEDB_TRY(table.Add(trace_id, {std::string(met.Text(0)), std::string(met.Text(1)),
                                     std::string(met.Text(2)), 0}));
  }
  return db.Execute("INSERT INTO _trace_group SELECT run_id, group_id FROM _process_group");
}

Result<ArgsParallelism> ArgsParallelism::Read(SqliteDb& db, std::filesystem::path folder,
                                              size_t bytes_max) {
  BytesById found(std::move(folder), bytes_max);
  TRACEDB_ASSIGN(rows, db.Prepare("SELECT a.id, p.parallelism FROM _args_text a "
                                  "CROSS JOIN _process_group p ON p.name = ifnull(a.group_name, '')"
                                  " AND p.ranks = a.group_ranks ORDER BY a.id"));
  for (;;) {
    TRACEDB_ASSIGN(row, rows.Step());
    if (!row) return ArgsParallelism(std::move(found));
    const auto parallelism = ParallelismByName(rows.Text(1));
    if (!parallelism.has_value()) continue;
    TRACEDB_TRY(found.Set(rows.Int(0), static_cast<uint8_t>(1 + static_cast<int>(*parallelism))));
  }
}

Status MergeCollectives(SqliteDb& db, int64_t trace_id, int64_t run_id, int64_t capture_id) {
  TRACEDB_TRY(MoveGroups(db, "fresh._process_group", run_id));
  return db.Execute(
      "INSERT INTO main._trace_group (trace_id, group_id) SELECT " + std::to_string(trace_id) +
      ", to_id FROM temp.group_move;"
      "INSERT INTO main._collective_part (id, rank, trace_id, capture_id, group_id, ordinal, seq, "
      "  collective, dtype, in_bytes, out_bytes, ts_ns, dur_ns, peer, step, launch_ts_ns, pair, "
      "  by_seq, match_no) "
      "SELECT p.id, p.rank, p.trace_id, " +
      std::to_string(capture_id) +
      ", m.to_id, p.ordinal, p.seq, p.collective, p.dtype, p.in_bytes, p.out_bytes, p.ts_ns, "
      "  p.dur_ns, p.peer, p.step, p.launch_ts_ns, p.pair, p.by_seq, p.match_no "
      "FROM fresh._collective_part p LEFT JOIN temp.group_move m ON m.from_id = p.group_id;"
      "DROP TABLE temp.group_move");
}

Status MoveCollectives(SqliteDb& db, int64_t trace_id, int64_t run_id, int64_t capture_id) {
  const std::string trace = std::to_string(trace_id);
  TRACEDB_TRY(MoveGroups(db,
                         "(SELECT * FROM main._process_group WHERE group_id IN (SELECT group_id "
                         "FROM main._trace_group WHERE trace_id = " +
                             trace + "))",
                         run_id));
  return db.Execute(
      "UPDATE main._collective_part AS p SET capture_id = " + std::to_string(capture_id) +
      ", group_id = (SELECT m.to_id FROM temp.group_move m WHERE m.from_id = p.group_id) "
      "WHERE p.id BETWEEN (SELECT first_row FROM main._trace WHERE trace_id = " +
      trace + ") AND (SELECT last_row FROM main._trace WHERE trace_id = " + trace +
      ");"
      "DELETE FROM main._trace_group WHERE trace_id = " +
      trace + "; INSERT INTO main._trace_group (trace_id, group_id) SELECT " + trace +
      ", to_id FROM temp.group_move; DROP TABLE temp.group_move;"
      "DELETE FROM main._explained_trace WHERE trace_id = " +  // its causes name the old group
      trace);
}

Status ForgetUnusedGroups(SqliteDb& db) {
  return db.Execute(
      "DELETE FROM main._process_group WHERE group_id NOT IN (SELECT group_id FROM "
      "main._trace_group)");
}

}  // namespace tracedb
