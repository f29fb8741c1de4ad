#include <string>

#include "ingest/derive_tables.h"
#include "ingest/text_dictionary.h"

namespace tracedb {
namespace {

// Bytes an element of a collective takes, by the dtype's name as PyTorch writes it.
constexpr const char* kElementBytesSql =
    "CASE lower(a.dtype) "
    "WHEN 'double' THEN 8 WHEN 'float64' THEN 8 WHEN 'long' THEN 8 WHEN 'int64' THEN 8 "
    "WHEN 'uint64' THEN 8 WHEN 'complexfloat' THEN 8 WHEN 'complexdouble' THEN 16 "
    "WHEN 'float' THEN 4 WHEN 'float32' THEN 4 WHEN 'int' THEN 4 WHEN 'int32' THEN 4 "
    "WHEN 'uint32' THEN 4 WHEN 'bfloat16' THEN 2 WHEN 'half' THEN 2 WHEN 'float16' THEN 2 "
    "WHEN 'short' THEN 2 WHEN 'int16' THEN 2 WHEN 'uint16' THEN 2 WHEN 'byte' THEN 1 "
    "WHEN 'char' THEN 1 WHEN 'int8' THEN 1 WHEN 'uint8' THEN 1 WHEN 'bool' THEN 1 "
    "ELSE CASE WHEN lower(a.dtype) LIKE 'float8%' THEN 1 END END";

// A group is told by its sorted ranks, so its number is made of them and is the same in every
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
      db.Prepare(std::string("INSERT INTO main.process_group VALUES (?1, ?2, ?3, ?4, ?5) ") +
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
  TRACEDB_ASSIGN(
      complete,
      db.Prepare(
          "UPDATE shape SET group_ranks = ?1 WHERE group_name = ?2 AND group_ranks IS NULL AND "
          "id BETWEEN (SELECT first_text FROM trace WHERE trace_id = ?3) AND "
          "(SELECT last_text FROM trace WHERE trace_id = ?3)"));
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
               "FROM shape WHERE group_ranks IS NOT NULL AND "
               "id BETWEEN (SELECT first_text FROM trace WHERE trace_id = ?1) AND "
               "(SELECT last_text FROM trace WHERE trace_id = ?1) ORDER BY 1, 2, 3"));
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

Status MergeGroups(SqliteDb& db) {
  return db.Execute(std::string("INSERT INTO main.process_group SELECT * FROM "
                                "fresh.process_group WHERE true ") +
                    kAddNamesSql);
}

Status RemakeGroups(SqliteDb& db) {
  TRACEDB_TRY(db.Execute("DELETE FROM main.process_group"));
  TRACEDB_ASSIGN(traces, db.Prepare("SELECT trace_id, header FROM main.trace ORDER BY trace_id"));
  for (;;) {
    TRACEDB_ASSIGN(row, traces.Step());
    if (!row) return Done{};
    TRACEDB_TRY(DeriveGroups(db, traces.Int(0), GroupsOfStoredHeader(traces.Text(1))));
  }
}

namespace {

// What the args say of a collective, once for each text of args: they are few.
std::string FactsSql() {
  const std::string element(kElementBytesSql);
  return "CREATE TEMP TABLE collective_fact (id INTEGER PRIMARY KEY, group_id INTEGER, "
         "  collective TEXT, dtype TEXT, in_bytes INTEGER, out_bytes INTEGER, paired INTEGER, "
         "  src_rank INTEGER, dst_rank INTEGER);"
         "INSERT INTO collective_fact "
         "SELECT a.id, p.group_id, a.collective, a.dtype, a.in_nelems * " +
         element + ", a.out_nelems * " + element +
         ", ifnull(a.group_size, p.size) > 2, "
         "  iif(lower(a.collective) = 'recv', a.src_rank, NULL), "
         "  iif(lower(a.collective) = 'send', a.dst_rank, NULL) "
         "FROM shape a LEFT JOIN process_group p "
         "  ON p.ranks = a.group_ranks AND a.collective IS NOT NULL";
}

// Counts the parts of each group, and of each pair, in time. Apart from the rows themselves: SQLite
// keeps all columns of a row that it counts, and that took twice the time of everything else.
std::string OrdinalsSql(const std::string& of_rank, bool pairs) {
  return "CREATE TEMP TABLE collective_ordinal (id INTEGER PRIMARY KEY, pair TEXT, "
         "  ordinal INTEGER, of_pair INTEGER);"
         "INSERT INTO collective_ordinal "
         "SELECT id, pair, row_number() OVER (PARTITION BY group_id ORDER BY ts_ns, id), " +
         std::string(pairs ? "row_number() OVER (PARTITION BY group_id, pair ORDER BY ts_ns, id) "
                           : "NULL ") +
         "FROM (SELECT g.id, a.group_id, g.ts + t.base_ns AS ts_ns, "
         "    iif(a.paired, coalesce(t.rank || '>' || a.dst_rank, a.src_rank || '>' || t.rank), "
         "      NULL) AS pair "
         "  FROM gpu_slice g CROSS JOIN track t ON t.id = g.track "
         "    LEFT JOIN collective_fact a ON a.id = g.shape "
         "  WHERE g.kind = 1 AND t.rank = " +
         of_rank + ")";
}

}  // namespace

Status DeriveCollectives(SqliteDb& db, int64_t rank) {
  const std::string of_rank = std::to_string(rank);
  TRACEDB_TRY(db.Execute("DELETE FROM collective_part WHERE rank = " + of_rank));
  TRACEDB_TRY(db.Execute(FactsSql()));
  // Counting by pair costs a sort of all parts: only where some group has pairs.
  TRACEDB_ASSIGN(pairs, db.Integer("SELECT EXISTS (SELECT 1 FROM collective_fact WHERE paired AND "
                                   "coalesce(src_rank, dst_rank) IS NOT NULL)"));
  TRACEDB_TRY(db.Execute(OrdinalsSql(of_rank, pairs != 0)));
  TRACEDB_TRY(db.Execute(
      "INSERT INTO collective_part "
      "SELECT g.id, t.rank, t.trace_id, a.group_id, iif(a.group_id IS NULL, NULL, o.ordinal), "
      "  g.collective_seq, a.collective, a.dtype, a.in_bytes, a.out_bytes, g.ts + t.base_ns, "
      "  g.dur, coalesce(a.dst_rank, a.src_rank), k.step, k.launch_ts_ns, ifnull(o.pair, ''), "
      "  g.collective_seq IS NOT NULL, "
      "  coalesce(g.collective_seq, iif(o.pair IS NULL, o.ordinal, o.of_pair)) "
      "FROM collective_ordinal o CROSS JOIN gpu_slice g ON g.id = o.id "
      "  CROSS JOIN track t ON t.id = g.track "
      "  LEFT JOIN collective_fact a ON a.id = g.shape LEFT JOIN launch k ON k.id = g.id "
      "ORDER BY o.id"));
  return db.Execute("DROP TABLE collective_ordinal; DROP TABLE collective_fact");
}

}  // namespace tracedb
