#include "sources/nsys/name_rows.h"

namespace tracedb {
namespace {

void WriteName(const char* kind, int64_t pid, int64_t tid, std::string_view inside,
               EventJson& out) {
  out.Begin('M', "", kind);
  out.Track(pid, tid);
  out.ArgInside("name", inside);
  out.End();
}

}  // namespace

bool ProcessNameRows::Reads(const ExportTables& tables) {
  return tables.Has(kTable, "globalPid") && tables.Has(kTable, "name");
}

std::string ProcessNameRows::Sql(const PartReading&) const {
  return std::string("SELECT globalPid, name FROM ") + kTable;
}

void ProcessNameRows::Write(const SqliteStatement& row, PartReading& part, EventJson& out) {
  const auto pid = IntIn(row, 0);
  if (!pid.has_value() || part.IsForeign(*pid)) return;
  std::string name;
  AppendJsonInside(name, row.Text(1));
  WriteName("process_name", PidOf(*pid), 0, name, out);
}

bool ThreadNameRows::Reads(const ExportTables& tables) {
  return tables.Has(kTable, "globalTid") && tables.Has(kTable, "nameId");
}

std::string ThreadNameRows::Sql(const PartReading& part) const {
  return std::string("SELECT globalTid, nameId FROM ") + kTable + " WHERE " +
         part.Condition(kTable);
}

void ThreadNameRows::Write(const SqliteStatement& row, PartReading& part, EventJson& out) {
  const auto tid = IntIn(row, 0);
  const std::string* const name = part.Text(IntIn(row, 1));
  if (!tid.has_value() || name == nullptr || part.IsForeign(*tid)) return;
  WriteName("thread_name", PidOf(*tid), TidOf(*tid), *name, out);
}

}  // namespace tracedb
