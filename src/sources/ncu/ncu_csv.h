// Reads what `ncu --csv` prints: output of the program, then a table with a header. Files put
// after one another are several tables.
//
//   --page raw       "ID",...,"CC","dram__bytes_read.sum","gpu__time_duration.sum"
//                    "","","",    "byte",                "ns"                       units
//                    "0",...,"9.0","67,117,056",         "23,200"                   a kernel
//   --page details   "ID",...,"Section Name","Metric Name","Metric Unit","Metric Value",...
//                    "0",...,"Occupancy","Achieved Occupancy","%","33.02",...       a metric of one
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "sources/ncu/csv_cells.h"
#include "sources/ncu/ncu_rows.h"
#include "sources/ncu/ncu_table.h"
#include "tracedb/base/result.h"

namespace tracedb {

class NcuCsv {
 public:
  NcuCsv(CsvCells& cells, NcuRows& rows) : cells_(cells), rows_(rows) {}
  // To the end of the text.
  Status Read();

 private:
  Status Line();
  Status Header();
  Status Units();
  Status Row();
  // The cells of a row after its first.
  Status RawCells();
  Status DetailCells();
  Status DetailRow(uint64_t value_offset);
  Status MetricCell(const NcuTable::Column& column);
  void Keep(NcuKernel& row, NcuColumn column);
  Status FinishKernel();
  // Takes the cell unless its text is not all there, which is counted.
  bool IsWhole();

  CsvCells& cells_;
  NcuRows& rows_;
  NcuTable table_;
  bool has_table_ = false;
  bool wants_units_ = false;        // the row after a header of --page raw
  std::vector<std::string> names_;  // of columns, until their units are known
  std::vector<std::string> units_;  // of metrics that need them
  NcuKernel kernel_;
  NcuKernel row_;            // of --page details
  bool has_kernel_ = false;  // there: its rows may go on
  std::string kernel_key_;
  CsvCell cell_;
  std::string line_;
};

}  // namespace tracedb
