#include "tracedb/derive/derive_collectives.h"

#include <algorithm>
#include <string>

#include "tracedb/memory/text_dictionary.h"

namespace tracedb {
namespace {

// Bytes an element of a collective takes, by the dtype's name as PyTorch writes it.
constexpr const char* kElementBytesSql =
    "CASE lower(a.dtype) "
    "WHEN 'double' THEN 8 WHEN 'float64' THEN 8 WHEN 'long' THEN 8 WHEN 'int64' THEN 8 "
    "WHEN 'uint64' THEN 8 WHEN 'complexfloat' THEN 8 WHEN 'complexdouble' THEN 16 "
    "WHEN 'float' THEN 4 WHEN 'float32' THEN 4 WHEN 'int' THEN 4 WHEN 'int32' THEN 4 "
    "WHEN 'uint32' THEN 4 WHEN 'qint32' THEN 4 WHEN 'complexhalf' THEN 4 "
    "WHEN 'bfloat16' THEN 2 WHEN 'half' THEN 2 WHEN 'float16' THEN 2 "
    "WHEN 'short' THEN 2 WHEN 'int16' THEN 2 WHEN 'uint16' THEN 2 WHEN 'byte' THEN 1 "
    "WHEN 'char' THEN 1 WHEN 'int8' THEN 1 WHEN 'uint8' THEN 1 WHEN 'bool' THEN 1 "
    "WHEN 'qint8' THEN 1 WHEN 'quint8' THEN 1 WHEN 'float4_e2m1fn_x2' THEN 1 "
    "ELSE CASE WHEN lower(a.dtype) LIKE 'float8%' THEN 1 END END";

// A group is determined by its sorted ranks, so its number is made of them and is the same in every
// trace.
int64_t GroupId(std::string_view ranks) {
  return static_cast<int64_t>(HashText(ranks) >> 2);  // positive, and room for SQL's arithmetic
}

// Two communicators of the same ranks are one group: both names are kept.
constexpr const char* kAddNamesSql =
    "ON CONFLICT (group_id) DO UPDATE SET "
    "name = CASE WHEN instr(', ' || name || ', ', ', ' || excluded.name || ', ') > 0 THEN name "
    "ELSE name || ', ' || excluded.name END, "
    "description = CASE WHEN instr(', ' || description || ', ', ', ' || excluded.description || "
    "', ') > 0 THEN description ELSE description || ', ' || excluded.description END";

Status StoreGroup(SqliteDb& db, const HeaderGroup& group) {
  if (group.ranks.empty()) return Done{};
  TRACEDB_ASSIGN(
      insert,
      db.Prepare(std::string("INSERT INTO main._process_group VALUES (?1, ?2, ?3, ?4, ?5) ") +
                 kAddNamesSql));
  TRACEDB_TRY(insert.Bind(1, GroupId(group.ranks)));
  TRACEDB_TRY(insert.Bind(2, std::string_view(group.name)));
  TRACEDB_TRY(insert.Bind(3, std::string_view(group.description)));
  TRACEDB_TRY(insert.Bind(4, group.size));
  TRACEDB_TRY(insert.Bind(5, std::string_view(group.ranks)));
  TRACEDB_ASSIGN(row, insert.Step());
  (void)row;
  return Done{};
}

int64_t CountRanks(std::string_view ranks) {
  int64_t count = 1;
  for (const char c : ranks) count += c == ',' ? 1 : 0;
  return count;
}

}  // namespace

Status DeriveGroups(SqliteDb& db, int64_t trace_id, const std::vector<HeaderGroup>& groups) {
  for (const HeaderGroup& group : groups) {
    HeaderGroup whole = group;
    if (whole.size == 0) whole.size = CountRanks(whole.ranks);
    TRACEDB_TRY(StoreGroup(db, whole));
  }
  // Where a kernel's own list of ranks is missing or shortened, the header's group of that name
  // has it.
  TRACEDB_ASSIGN(complete,
                 db.Prepare("UPDATE _args_text SET group_ranks = ?1 WHERE group_name = ?2 AND "
                            "group_ranks IS NULL AND "
                            "id BETWEEN (SELECT first_text FROM _trace WHERE trace_id = ?3) AND "
                            "(SELECT last_text FROM _trace WHERE trace_id = ?3)"));
  for (const HeaderGroup& group : groups) {
    if (group.ranks.empty()) continue;
    TRACEDB_TRY(complete.Bind(1, std::string_view(group.ranks)));
    TRACEDB_TRY(complete.Bind(2, std::string_view(group.name)));
    TRACEDB_TRY(complete.Bind(3, trace_id));
    TRACEDB_ASSIGN(row, complete.Step());
    (void)row;
    complete.Reset();
  }
  TRACEDB_ASSIGN(
      met, db.Prepare(
               "SELECT DISTINCT ifnull(group_name, ''), ifnull(group_description, ''), group_ranks "
               "FROM _args_text WHERE group_ranks IS NOT NULL AND "
               "id BETWEEN (SELECT first_text FROM _trace WHERE trace_id = ?1) AND "
               "(SELECT last_text FROM _trace WHERE trace_id = ?1) ORDER BY 1, 2, 3"));
  TRACEDB_TRY(met.Bind(1, trace_id));
  std::vector<HeaderGroup> found;
  for (;;) {
    TRACEDB_ASSIGN(row, met.Step());
    if (!row) break;
    HeaderGroup group{std::string(met.Text(0)), std::string(met.Text(1)), std::string(met.Text(2)),
                      CountRanks(met.Text(2))};
    found.push_back(std::move(group));
  }
  for (const HeaderGroup& group : found) TRACEDB_TRY(StoreGroup(db, group));
  return Done{};
}

Result<ArgsParallelism> ReadArgsParallelism(SqliteDb& db) {
  ArgsParallelism found;
  TRACEDB_ASSIGN(rows,
                 db.Prepare("SELECT a.id, p.parallelism FROM _args_text a JOIN process_groups p "
                            "ON p.ranks = a.group_ranks"));
  for (;;) {
    TRACEDB_ASSIGN(row, rows.Step());
    if (!row) return found;
    const auto name = std::find(kParallelismNames.begin(), kParallelismNames.end(), rows.Text(1));
    if (name == kParallelismNames.end()) continue;
    found.emplace(rows.Int(0), static_cast<Parallelism>(name - kParallelismNames.begin()));
  }
}

Status MergeGroups(SqliteDb& db) {
  return db.Execute(std::string("INSERT INTO main._process_group SELECT * FROM "
                                "fresh._process_group WHERE true ") +
                    kAddNamesSql);
}

Status RemakeGroups(SqliteDb& db,
                    const std::function<std::vector<HeaderGroup>(std::string_view)>& groups_of) {
  TRACEDB_TRY(db.Execute("DELETE FROM main._process_group"));
  TRACEDB_ASSIGN(traces, db.Prepare("SELECT trace_id, header FROM main._trace ORDER BY trace_id"));
  for (;;) {
    TRACEDB_ASSIGN(row, traces.Step());
    if (!row) return Done{};
    TRACEDB_TRY(DeriveGroups(db, traces.Int(0), groups_of(traces.Text(1))));
  }
}

namespace {

// What the args say of a collective, once for each text of args: they are few.
std::string FactsSql() {
  const std::string element(kElementBytesSql);
  return "CREATE TEMP TABLE collective_fact (id INTEGER PRIMARY KEY, group_id INTEGER, "
         "  collective TEXT, dtype TEXT, in_bytes INTEGER, out_bytes INTEGER, of_two INTEGER, "
         "  src_rank INTEGER, dst_rank INTEGER);"
         "INSERT INTO collective_fact "
         "SELECT a.id, p.group_id, a.collective, a.dtype, a.in_nelems * " +
         element + ", a.out_nelems * " + element +
         ", ifnull(a.group_size, p.size) <= 2, "
         "  iif(lower(a.collective) = 'recv', a.src_rank, NULL), "
         "  iif(lower(a.collective) = 'send', a.dst_rank, NULL) "
         "FROM _args_text a LEFT JOIN _process_group p "
         "  ON p.ranks = a.group_ranks AND a.collective IS NOT NULL";
}

// The communication kernels: narrow rows, as SQLite keeps all columns of a row that it counts, and
// that took twice the time of everything else.
std::string ItemsSql(const std::string& of_rank) {
  return "CREATE TEMP TABLE collective_item (id INTEGER PRIMARY KEY, fact INTEGER, "
         "  group_id INTEGER, pair TEXT, seq INTEGER, ts_ns INTEGER);"
         "INSERT INTO collective_item "
         "SELECT g.id, g.args_text, a.group_id, NULL, g.collective_seq, g.ts + t.base_ns "
         "FROM _gpu_slice g CROSS JOIN _track t ON t.id = g.track "
         "  LEFT JOIN collective_fact a ON a.id = g.args_text "
         "WHERE g.kind = 1 AND t.rank = " +
         of_rank;
}

// A coalesced kernel has no args of a collective, but the operator has that it was launched in: its
// External id says which.
std::string CoalescedSql(const std::string& of_rank) {
  return "CREATE TEMP TABLE collective_op (trace_id INTEGER, external_id INTEGER, fact INTEGER, "
         "  group_id INTEGER, seq INTEGER, PRIMARY KEY (trace_id, external_id)) WITHOUT ROWID;"
         "INSERT OR IGNORE INTO collective_op "
         "SELECT t.trace_id, s.external_id, s.args_text, a.group_id, s.collective_seq "
         "FROM _cpu_slice s CROSS JOIN _track t ON t.id = s.track "
         "  CROSS JOIN collective_fact a ON a.id = s.args_text "
         "WHERE s.event_name IN (SELECT id FROM _event_name WHERE name = 'record_param_comms') "
         "  AND t.rank = " +
         of_rank +
         "  AND s.external_id IS NOT NULL AND a.group_id IS NOT NULL ORDER BY s.id;"
         "UPDATE collective_item AS i SET (fact, group_id, seq) = (o.fact, o.group_id, o.seq) "
         "FROM _gpu_slice g CROSS JOIN _track t ON t.id = g.track CROSS JOIN collective_op o "
         "  ON o.trace_id = t.trace_id AND o.external_id = g.external_id "
         "WHERE i.group_id IS NULL AND g.id = i.id;"
         "DROP TABLE collective_op";
}

// Sends and receives belong together by their two ranks: each of these pairs is counted by itself,
// and what is left of the group is too. Of several parts with one Seq the second is matched with
// the second.
std::string PairsSql(const std::string& of_rank) {
  return "UPDATE collective_item SET pair = a.pair FROM (SELECT id, coalesce(" + of_rank +
         "    || '>' || dst_rank, src_rank || '>' || " + of_rank +
         ") AS pair FROM collective_fact) a "
         "WHERE a.id = collective_item.fact AND group_id IS NOT NULL AND a.pair IS NOT NULL";
}

constexpr const char* kOrdinalsSql =
    "CREATE TEMP TABLE collective_ordinal (id INTEGER PRIMARY KEY, ordinal INTEGER, "
    "  of_pair INTEGER, of_seq INTEGER);"
    "INSERT INTO collective_ordinal SELECT id, "
    "  row_number() OVER (PARTITION BY group_id ORDER BY ts_ns, id), NULL, 1 "
    "FROM collective_item";
constexpr const char* kOfPairSql =
    "UPDATE collective_ordinal SET of_pair = n.n FROM (SELECT id, row_number() OVER "
    "  (PARTITION BY group_id, pair ORDER BY ts_ns, id) AS n FROM collective_item) n "
    "WHERE n.id = collective_ordinal.id";
constexpr const char* kOfSeqSql =
    "UPDATE collective_ordinal SET of_seq = n.n FROM (SELECT id, row_number() OVER "
    "  (PARTITION BY group_id, pair, seq ORDER BY ts_ns, id) AS n FROM collective_item "
    "  WHERE seq IS NOT NULL) n "
    "WHERE n.id = collective_ordinal.id AND n.n > 1";

constexpr const char* kPartsSql =
    "INSERT INTO _collective_part "
    "SELECT i.id, t.rank, t.trace_id, i.group_id, iif(i.group_id IS NULL, NULL, o.ordinal), "
    "  i.seq, a.collective, a.dtype, a.in_bytes, a.out_bytes, i.ts_ns, g.dur, "
    "  coalesce(a.dst_rank, a.src_rank), k.step, k.launch_ts_ns, "
    "  ifnull(i.pair, '') || iif(i.by_seq AND o.of_seq > 1, '#' || o.of_seq, ''), i.by_seq, "
    "  iif(i.by_seq, i.seq, coalesce(o.of_pair, o.ordinal)) "
    "FROM (SELECT c.*, c.seq IS NOT NULL AND (c.pair IS NULL OR f.of_two) AS by_seq "
    "    FROM collective_item c LEFT JOIN collective_fact f ON f.id = c.fact) i "
    "  CROSS JOIN collective_ordinal o ON o.id = i.id "
    "  CROSS JOIN _gpu_slice g ON g.id = i.id CROSS JOIN _track t ON t.id = g.track "
    "  LEFT JOIN collective_fact a ON a.id = i.fact LEFT JOIN _launch k ON k.id = i.id "
    "ORDER BY i.id";

}  // namespace

Status DeriveCollectives(SqliteDb& db, int64_t rank) {
  const std::string of_rank = std::to_string(rank);
  TRACEDB_TRY(db.Execute("DELETE FROM _collective_part WHERE rank = " + of_rank));
  TRACEDB_TRY(db.Execute(FactsSql()));
  TRACEDB_TRY(db.Execute(ItemsSql(of_rank)));
  // What follows costs a pass or a sort each: only where there is something for it.
  TRACEDB_ASSIGN(coalesced, db.Integer("SELECT EXISTS (SELECT 1 FROM collective_item i JOIN "
                                       "_gpu_slice g ON g.id = i.id WHERE i.group_id IS NULL "
                                       "AND g.external_id IS NOT NULL)"));
  if (coalesced != 0) TRACEDB_TRY(db.Execute(CoalescedSql(of_rank)));
  TRACEDB_ASSIGN(pairs, db.Integer("SELECT EXISTS (SELECT 1 FROM collective_fact WHERE "
                                   "coalesce(src_rank, dst_rank) IS NOT NULL)"));
  if (pairs != 0) TRACEDB_TRY(db.Execute(PairsSql(of_rank)));
  TRACEDB_TRY(db.Execute(kOrdinalsSql));
  if (pairs != 0) TRACEDB_TRY(db.Execute(kOfPairSql));
  TRACEDB_ASSIGN(seqs, db.Integer("SELECT EXISTS (SELECT 1 FROM collective_item WHERE seq IS NOT "
                                  "NULL)"));
  if (seqs != 0) TRACEDB_TRY(db.Execute(kOfSeqSql));
  TRACEDB_TRY(db.Execute(kPartsSql));
  return db.Execute(
      "DROP TABLE collective_item; DROP TABLE collective_ordinal; "
      "DROP TABLE collective_fact");
}

}  // namespace tracedb
