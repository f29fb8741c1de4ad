#include "derive/step_uses.h"

#include <algorithm>
#include <cassert>
#include <string_view>

namespace tracedb {

Status StepUses::Add(size_t device, const StepUse& use) {
  Row row{};
  auto at = row.begin();
  *at++ = static_cast<int64_t>(device);
  *at++ = use.step.has_value() ? 1 : 0;
  *at++ = use.step.value_or(0);
  for (const int64_t value :
       {use.start_ns, use.end_ns, use.compute_ns, use.communication_ns, use.overlap_ns}) {
    *at++ = value;
  }
  at = std::copy(use.exposed_ns.begin(), use.exposed_ns.end(), at);
  *at++ = use.exposed_memory_ns;
  at = std::copy(use.idle_ns.begin(), use.idle_ns.end(), at);
  assert(at == row.end());
  return rows_.Add(row);
}

Status StepUses::Store(SqliteDb& db, int64_t trace_id,
                       const std::vector<std::string>& devices) const {
  TRACEDB_ASSIGN(insert, db.Prepare("INSERT INTO _step_use VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, "
                                    "?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17, ?18, ?19)"));
  TRACEDB_TRY(insert.Bind(1, trace_id));
  PackedRows<Row>::Cursor rows(rows_);
  for (Row row{}; rows.Next(row);) {
    TRACEDB_TRY(insert.Bind(2, std::string_view(devices[static_cast<size_t>(row[0])])));
    TRACEDB_TRY(row[1] != 0 ? insert.Bind(3, row[2]) : insert.BindNull(3));
    int parameter = 3;
    for (size_t i = kColumnsBefore; i < kColumns; ++i) {
      TRACEDB_TRY(insert.Bind(++parameter, row[i]));
    }
    TRACEDB_TRY(insert.Run());
  }
  return rows.status();
}

}  // namespace tracedb
