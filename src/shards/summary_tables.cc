#include "tracedb/shards/summary_tables.h"

#include <algorithm>
#include <array>
#include <cassert>

#include "tracedb/schema/event_tables.h"

namespace tracedb {
namespace {

// Columns: a name, after a colon what it is (none: an integer): t of a trace, r of a row, x of a
// text (all integers), s a text, f a number with a fraction; after = what it is made of.
struct Plan {
  const char* file;
  const char* table;
  const char* columns;
  const char* from;
};

constexpr const char* kOfTrace = " WHERE trace_id = ?1";
constexpr const char* kOfRows = " WHERE id BETWEEN ?2 AND ?3";

constexpr Plan kPlans[] = {
    {"trace", "_trace",
     "trace_id:t path:s rank folder:s input_folder:s named_run:s is_graph_capture rank_source:s "
     "world_size host:s gpu_name:s file_bytes text_bytes events slices gpu_activities "
     "skipped_events complete base_time_ns start_ns end_ns first_row last_row first_text last_text "
     "text_hash:s file_hash:s ingested_at:s header:s",
     kOfTrace},
    {"event_name", "_event_name", "id:x name:s category:s kind",
     " WHERE id BETWEEN ?4 AND ?5 AND id IN (SELECT id FROM temp.used_text)"},
    {"args_text", "_args_text",
     "id:x args:s others:s collective:s dtype:s in_nelems out_nelems group_name:s "
     "group_description:s group_ranks:s group_size src_rank dst_rank grid:s block:s registers "
     "shared_memory_bytes occupancy_pct:f device_type device_id",
     " WHERE id BETWEEN ?4 AND ?5 AND id IN (SELECT id FROM temp.used_args)"},
    {"track", "_track", "id:x trace_id:t pid:s tid:s device stream rank base_ns", kOfTrace},
    {"process", "_process", "trace_id:t rank pid:s name:s sort_index labels:s", kOfTrace},
    {"thread", "_thread", "trace_id:t rank pid:s tid:s name:s sort_index", kOfTrace},
    {"issue", "_issue", "trace_id:t kind:s count first_offset first_excerpt:s", kOfTrace},
    {"step", "_step", "id:r track:x step ts dur", kOfRows},
    {"impossible_time", "_impossible_time", "id:r", kOfRows},
    {"device_use", "_device_use",
     "trace_id:t device start_ns end_ns compute_ns communication_ns overlap_ns "
     "exposed_communication_ns exposed_memory_ns idle_ns",
     kOfTrace},
    {"stream_use", "_stream_use",
     "trace_id:t device stream activities start_ns end_ns busy_ns compute_ns communication_ns "
     "memory_ns",
     kOfTrace},
    {"step_use", "_step_use",
     "trace_id:t device step start_ns end_ns compute_ns communication_ns overlap_ns "
     "exposed_pipeline_ns exposed_data_ns exposed_tensor_ns exposed_expert_ns exposed_context_ns "
     "exposed_other_ns exposed_memory_ns idle_host_ns idle_sync_ns idle_dependency_ns "
     "idle_unknown_ns",
     kOfTrace},
    {"host_use", "_host_use",
     "trace_id:t step kind event_name:x args_text:x calls total_ns self_ns activities gpu_ns "
     "self_gpu_ns backward_gpu_ns self_backward_gpu_ns graph_calls",
     kOfTrace},
    {"kernel_use", "_kernel_use", "trace_id:t step op:x forward_op:x kernel:x activities gpu_ns",
     kOfTrace},
    {"process_group", "",
     "trace_id:t=m.trace_id group_id=g.group_id name:s=g.name ranks:s=g.ranks "
     "description:s=g.description size=g.size parallelism:s=g.parallelism",
     "_trace_group m JOIN _process_group g ON g.group_id = m.group_id WHERE m.trace_id = ?1 "
     "ORDER BY g.group_id"},
    {"collective_part", "",
     "id:r=p.id rank=p.rank trace_id:t=p.trace_id group_id=p.group_id ordinal=p.ordinal seq=p.seq "
     "collective:s=p.collective dtype:s=p.dtype in_bytes=p.in_bytes out_bytes=p.out_bytes "
     "ts_ns=p.ts_ns dur_ns=p.dur_ns peer=p.peer step=p.step launch_ts_ns=p.launch_ts_ns "
     "pair:s=p.pair by_seq=p.by_seq match_no=p.match_no track:x=s.track event_name:x=s.event_name "
     "launch_slice_id:r=k.launch_slice_id",
     "_collective_part p LEFT JOIN _gpu_slice s ON s.id = p.id LEFT JOIN _launch k ON k.id = p.id "
     "WHERE p.id BETWEEN ?2 AND ?3 "
     "ORDER BY p.id"},
    // For the replay of collectives alone: whether a rank computed while a part ran, and when
    // again; when its GPU began each step's work, and was done with it.
    {"part_use", "_part_use", "id:r computing_ns idle_ns", "temp.part_use WHERE trace_id = ?1"},
    {"step_last", "_step_last",
     "trace_id:t device step activities begin_ns start_ns end_ns busy_ns",
     "temp.step_last WHERE trace_id = ?1"},
    // Launches that waited as their queue was full.
    {"full_queue", "_full_queue", "id:r", "temp.full_queue WHERE trace_id = ?1 ORDER BY id"},
    // For what asks how long something ran between collectives: not all of its stretches.
    {"busy_outline", "_busy_segment", "trace_id:t device ts_ns dur_ns kinds",
     "temp.busy_outline b JOIN temp.outline_device d ON d.number = b.number "
     "WHERE d.trace_id = ?1"},
    // Slices are read for what held the last rank of a collective, and only the stretches that
    // somebody waited in: they are in the order of time, so that few row groups are.
    {"gpu_slice", "",
     "id:r=s.id track:x=s.track event_name:x=s.event_name ts=s.ts end_ts=s.ts+s.dur kind=s.kind "
     "launch_slice_id:r=k.launch_slice_id launch_ts_ns=k.launch_ts_ns step=k.step "
     "launch_track:x=r.track launch_name:x=r.event_name launch_dur=r.dur",
     "_gpu_slice s LEFT JOIN _launch k ON k.id = s.id "
     "LEFT JOIN _runtime_slice r ON r.id = k.launch_slice_id "
     "WHERE s.id BETWEEN ?2 AND ?3 ORDER BY s.ts, s.id"},
    {"host_wait", "", "id:r track:x event_name:x ts end_ts=ts+dur",
     "_runtime_slice WHERE id BETWEEN ?2 AND ?3 AND dur >= 0 "
     "AND (event_name IN (SELECT id FROM temp.wait_name) OR id IN (SELECT id FROM "
     "temp.full_queue)) ORDER BY ts, id"},
    {"cpu_slice", "", "id:r track:x event_name:x ts end_ts=ts+dur", "long"},
    {"runtime_slice", "", "id:r track:x event_name:x ts end_ts=ts+dur", "long"},
    {"python_slice", "", "id:r track:x event_name:x ts end_ts=ts+dur", "long"},
};

SummaryColumn ReadColumn(std::string_view text, std::string& expressions) {
  const size_t equals = text.find('=');
  std::string_view name = text.substr(0, equals);
  SummaryColumn column;
  if (const size_t colon = name.find(':'); colon != name.npos) {
    const char kind = name[colon + 1];
    name = name.substr(0, colon);
    if (kind == 's') column.column.type = ParquetType::kText;
    if (kind == 'f') column.column.type = ParquetType::kReal;
    if (kind == 't') column.id = SummaryId::kTrace;
    if (kind == 'r') column.id = SummaryId::kRow;
    if (kind == 'x') column.id = SummaryId::kText;
  }
  column.column.name = name;
  expressions += expressions.empty() ? "" : ", ";
  expressions += equals == text.npos ? name : text.substr(equals + 1);
  return column;
}

SummaryTable ReadPlan(const Plan& plan) {
  SummaryTable table;
  table.file = std::string(plan.file) + ".parquet";
  table.table = plan.table;
  std::string_view columns = plan.columns;
  while (!columns.empty()) {
    const size_t blank = std::min(columns.find(' '), columns.size());
    table.columns.push_back(ReadColumn(columns.substr(0, blank), table.expressions));
    columns.remove_prefix(std::min(blank + 1, columns.size()));
  }
  const std::string own = "_" + std::string(plan.file);
  table.from = plan.from;
  if (table.from == "long") {
    table.from = own + " INDEXED BY " + own + "_long WHERE dur >= " + std::to_string(kLongSliceNs) +
                 " AND track IN (SELECT id FROM _track WHERE trace_id = ?1) ORDER BY ts, id";
  } else if (table.from.starts_with(" WHERE")) {
    table.from = own + table.from;
  }
  return table;
}

constexpr std::array kWhole = {"_trace",
                               "_event_name",
                               "_args_text",
                               "_track",
                               "_process",
                               "_thread",
                               "_issue",
                               "_step",
                               "_step_use",
                               "_step_last",
                               "_impossible_time",
                               "_host_use",
                               "_kernel_use",
                               "_device_use",
                               "_stream_use",
                               "_process_group",
                               "_run",
                               "_capture",
                               "_trace_group",
                               "_collective_part",
                               "_collective_cause",
                               "_clock",
                               "_clock_pair",
                               "_explained_trace",
                               "_args_mark"};

}  // namespace

int SummaryTable::Find(std::string_view name) const {
  for (size_t i = 0; i < columns.size(); ++i) {
    if (columns[i].column.name == name) return static_cast<int>(i);
  }
  return -1;
}

const std::vector<SummaryTable>& SummaryTables() {
  static const std::vector<SummaryTable> tables = [] {
    std::vector<SummaryTable> all;
    for (const Plan& plan : kPlans) all.push_back(ReadPlan(plan));
    return all;
  }();
  return tables;
}

const SummaryTable& SummaryTableOf(std::string_view file) {
  const auto& tables = SummaryTables();
  const auto found = std::find_if(tables.begin(), tables.end(),
                                  [&](const SummaryTable& table) { return table.file == file; });
  assert(found != tables.end());
  return *found;
}

std::vector<ParquetColumn> WidestColumns(const SummaryTable& table) {
  std::vector<ParquetColumn> columns;
  for (const SummaryColumn& column : table.columns) columns.push_back(column.column);
  for (const SummaryColumn& column : table.columns) {
    if (column.id != SummaryId::kNone || column.column.type == ParquetType::kText) continue;
    columns.push_back({column.column.name + ".text", ParquetType::kText});
    if (column.column.type == ParquetType::kReal) continue;
    columns.push_back({column.column.name + ".real", ParquetType::kReal});
  }
  return columns;
}

std::vector<std::string> UsedTextsSql() {
  const std::string into = "INSERT OR IGNORE INTO temp.used_text SELECT ";
  const std::string of_trace = " WHERE trace_id = ?1 AND ";
  std::vector<std::string> all = {
      into + "event_name FROM _host_use" + of_trace + "event_name IS NOT NULL",
      "INSERT OR IGNORE INTO temp.used_args SELECT args_text FROM _host_use" + of_trace +
          "args_text IS NOT NULL",
      "INSERT OR IGNORE INTO temp.used_text SELECT id FROM temp.wait_name",
  };
  for (const char* column : {"op", "forward_op", "kernel"}) {
    all.push_back(into + column + " FROM _kernel_use" + of_trace + column + " IS NOT NULL");
  }
  const std::string rows =
      " BETWEEN (SELECT first_row FROM _trace WHERE trace_id = ?1) AND "
      "(SELECT last_row FROM _trace WHERE trace_id = ?1)";
  all.push_back(into + "event_name FROM _gpu_slice WHERE event_name IS NOT NULL AND id" + rows);
  all.push_back(into +
                "r.event_name FROM _launch k JOIN _runtime_slice r ON r.id = "
                "k.launch_slice_id WHERE r.event_name IS NOT NULL AND k.id" +
                rows);
  for (const EventTable table : kLongSliceTables) {
    const std::string name(EventTableName(table));
    all.push_back(into + "event_name FROM " + name + " INDEXED BY " + name +
                  "_long WHERE dur >= " + std::to_string(kLongSliceNs) +
                  " AND event_name IS NOT NULL AND track IN "
                  "(SELECT id FROM _track WHERE trace_id = ?1)");
  }
  return all;
}

bool IsWholeInSummary(std::string_view table) {
  return std::find(kWhole.begin(), kWhole.end(), table) != kWhole.end();
}

}  // namespace tracedb
