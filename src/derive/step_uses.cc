#include "derive/step_uses.h"

namespace tracedb {

Status StoreStepUses(SqliteDb& db, int64_t trace_id, std::string_view device,
                     const std::vector<StepUse>& steps) {
  TRACEDB_ASSIGN(insert, db.Prepare("INSERT INTO _step_use VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, "
                                    "?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17, ?18, ?19)"));
  for (const StepUse& step : steps) {
    TRACEDB_TRY(insert.Bind(1, trace_id));
    TRACEDB_TRY(insert.Bind(2, device));
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
  return Done{};
}

}  // namespace tracedb
