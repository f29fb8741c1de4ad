#include "export/workbook.h"

#include "tracedb/base/own_module.h"

namespace tracedb {
Result<std::unique_ptr<Workbook>> Workbook::Create(const std::filesystem::path& file,
                                                   const std::filesystem::path& scratch) {
#ifdef TRACEDB_MODULES
  TRACEDB_ASSIGN(found, ModuleFunction("tracedb-xlsx.so", "tracedb_xlsx_workbook"));
  const auto make = reinterpret_cast<decltype(&tracedb_xlsx_workbook)>(found);
#else
  const auto make = &tracedb_xlsx_workbook;
#endif
  std::unique_ptr<Workbook> made(make(file.c_str(), scratch.c_str()));
  if (made == nullptr) return Error{ErrorKind::kOutput, "the workbook: no memory for it", ""};
  return made;
}

}  // namespace tracedb
