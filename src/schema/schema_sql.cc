#include "tracedb/schema/schema_sql.h"

#include <algorithm>

#include "schema/sql_files.h"  // generated from the .sql files beside this one
#include "tracedb/schema/database_id.h"
#include "tracedb/schema/rank_clock.h"

namespace tracedb {
namespace {

using SlotList = std::array<Slot, kSlots>;

// `first` in front, the others behind in their own order.
constexpr SlotList Ordered(std::initializer_list<Slot> first) {
  SlotList order{};
  size_t count = 0;
  for (const Slot slot : first) order[count++] = slot;
  for (int i = 0; i < kSlots; ++i) {
    const Slot slot = static_cast<Slot>(i);
    if (std::find(first.begin(), first.end(), slot) == first.end()) order[count++] = slot;
  }
  return order;
}

constexpr std::array<SlotList, kEventTables> kOrders = {
    Ordered({Slot::kExternalId, Slot::kRecordFunctionId, Slot::kEvIdx, Slot::kSequenceNumber,
             Slot::kFwdThreadId, Slot::kValue1, Slot::kValue2, Slot::kCorrelation}),
    Ordered({Slot::kCorrelation, Slot::kExternalId, Slot::kValue1, Slot::kValue2}),
    Ordered({Slot::kPythonId, Slot::kPythonParentId, Slot::kEvIdx, Slot::kPythonModuleId}),
    Ordered({Slot::kExternalId, Slot::kCorrelation, Slot::kBytes, Slot::kValue1, Slot::kValue2,
             Slot::kCollectiveSeq}),
    Ordered({Slot::kAddr, Slot::kBytes, Slot::kTotalAllocated, Slot::kTotalReserved, Slot::kEvIdx}),
    Ordered({Slot::kId}),
    Ordered({Slot::kValue1, Slot::kValue2, Slot::kValue3, Slot::kValue4}),
    Ordered({Slot::kValue1})};

// Slots that may hold a number or a text have no type, so that SQLite keeps what it is given.
std::string SlotColumnsSql(EventTable table) {
  std::string sql;
  for (const Slot slot : SlotOrder(table)) {
    if (!sql.empty()) sql += ", ";
    sql += kSlotColumns[static_cast<size_t>(slot)];
    const bool may_be_text = slot >= Slot::kValue1 || slot == Slot::kId || slot == Slot::kAddr;
    if (!may_be_text) sql += " INTEGER";
  }
  return sql;
}

// The text in `column` with every mark replaced by the slot's value of row `s`.
std::string FillSql(std::string column) {
  for (int slot = 0; slot < kSlots; ++slot) {
    const std::string name(kSlotColumns[static_cast<size_t>(slot)]);
    column = "replace(" + column + ",char(" + std::to_string(int{SlotMark(slot)}) + "),ifnull(s." +
             name + ",''))";
  }
  return column;
}

// The same with null for every value: JSON of what is alike in all events that have the text.
std::string EmptiedSql(std::string column) {
  for (int slot = 0; slot < kSlots; ++slot) {
    column = "replace(" + column + ",char(" + std::to_string(int{SlotMark(slot)}) + "),'null')";
  }
  return column;
}

void ReplaceAll(std::string& text, const std::string& what, const std::string& with) {
  for (size_t at = text.find(what); at != std::string::npos; at = text.find(what, at)) {
    text.replace(at, what.size(), with);
    at += with.size();
  }
}

}  // namespace

const std::array<Slot, kSlots>& SlotOrder(EventTable table) {
  return kOrders[static_cast<size_t>(table)];
}

std::string TablesSql() {
  std::string sql(kTablesSql);
  for (int i = 0; i < kEventTables; ++i) {
    const auto table = static_cast<EventTable>(i);
    ReplaceAll(sql, "@slots:" + std::string(EventTableName(table)) + "@", SlotColumnsSql(table));
  }
  ReplaceAll(sql, "@long_slice_ns@", std::to_string(kLongSliceNs));
  sql += "PRAGMA application_id = " + std::to_string(kApplicationId) + ";";
  sql += "PRAGMA user_version = " + std::to_string(kSchemaVersion) + ";";
  return sql;
}

std::string ViewsSql() {
  std::string sql = std::string(kViewsSql) + std::string(kViewsNsightSql);
  ReplaceAll(sql, "@aligned:p.ts_ns@", "(" + AlignedSql("p.ts_ns") + ")");
  ReplaceAll(sql, "@fill:a.args@", FillSql("a.args"));
  ReplaceAll(sql, "@emptied:a.args@", EmptiedSql("a.args"));
  ReplaceAll(sql, "@others@", "'{' || " + FillSql("a.others") + " || '}'");
  return sql;
}

}  // namespace tracedb
