// A trace's step_use, and what it needs to be told: which kind of group a collective is for.

#include <array>
#include <map>
#include <string>

#include "tracedb/derive/derive_tables.h"

namespace tracedb {

Result<GroupShapes> ReadGroupShapes(SqliteDb& db) {
  const std::map<std::string, Parallelism, std::less<>> names = {
      {"pipeline", Parallelism::kPipeline}, {"data", Parallelism::kData},
      {"tensor", Parallelism::kTensor},     {"expert", Parallelism::kExpert},
      {"other", Parallelism::kOther},
  };
  GroupShapes shapes;
  TRACEDB_ASSIGN(rows, db.Prepare("SELECT a.id, p.parallelism FROM shape a JOIN process_groups p "
                                  "ON p.ranks = a.group_ranks"));
  for (;;) {
    TRACEDB_ASSIGN(row, rows.Step());
    if (!row) return shapes;
    const auto found = names.find(rows.Text(1));
    if (found != names.end()) shapes.emplace(rows.Int(0), found->second);
  }
}

Status StoreStepUse(SqliteDb& db, int64_t trace_id, const FreshUse& use) {
  TRACEDB_ASSIGN(insert, db.Prepare("INSERT INTO step_use VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, "
                                    "?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17, ?18)"));
  for (const FreshUse::Device& device : use.devices) {
    for (const StepUse& step : device.steps) {
      TRACEDB_TRY(insert.Bind(1, trace_id));
      TRACEDB_TRY(insert.Bind(2, std::string_view(device.device)));
      TRACEDB_TRY(step.step.has_value() ? insert.Bind(3, *step.step) : insert.BindNull(3));
      int parameter = 3;
      const auto bind = [&](int64_t value) { return insert.Bind(++parameter, value); };
      for (const int64_t value :
           {step.start_ns, step.end_ns, step.compute_ns, step.communication_ns, step.overlap_ns}) {
        TRACEDB_TRY(bind(value));
      }
      for (const int64_t value : step.exposed_ns) TRACEDB_TRY(bind(value));
      TRACEDB_TRY(bind(step.exposed_memory_ns));
      for (const int64_t value : step.idle_ns) TRACEDB_TRY(bind(value));
      TRACEDB_ASSIGN(row, insert.Step());
      (void)row;
      insert.Reset();
    }
  }
  return Done{};
}

}  // namespace tracedb
