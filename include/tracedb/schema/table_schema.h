// The tables of the database: which event goes where, and which slots each table has in which
// order. The SQL is in table_schema.sql and table_views*.sql.
#pragma once

#include <array>
#include <string>
#include <string_view>

#include "tracedb/schema/args_slots.h"

namespace tracedb {

enum class EventTable : uint8_t {
  kCpuSlice,
  kRuntimeSlice,
  kPythonSlice,
  kGpuSlice,
  kInstant,
  kFlow,
  kCounterEvent,
  kMetadataEvent,
  kCount
};
inline constexpr int kEventTables = static_cast<int>(EventTable::kCount);

std::string_view EventTableName(EventTable table);

// All slots, those first that the table's rows have most often: a row ends with its last value.
const std::array<Slot, kSlots>& SlotOrder(EventTable table);

// The tables, ready to execute on an empty database; and the views of a finished one. A connection
// reads all of a database's schema, and most of that is views: while one is made it has none.
std::string TablesSql();
std::string ViewsSql();

}  // namespace tracedb
