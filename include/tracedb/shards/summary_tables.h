// What a summary has of a rank's database: which rows of which tables, a Parquet file each.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "tracedb/parquet/parquet_columns.h"

namespace tracedb {

// What a number of a row refers to. Numbers of rows and texts are those of the rank's own database,
// in the stretch that its trace has there.
enum class SummaryId : uint8_t { kNone, kTrace, kRow, kText };

struct SummaryColumn {
  ParquetColumn column;
  SummaryId id = SummaryId::kNone;
};

struct SummaryTable {
  std::string file;   // "step.parquet"
  std::string table;  // "_step", where its rows go as they are; empty: not
  std::vector<SummaryColumn> columns;
  std::string from;  // SQL after FROM; ?1 the trace, ?2 and ?3 its first and last row, ?4 and ?5
                     // its first and last text
  std::string expressions;  // SQL between SELECT and FROM

  int Find(std::string_view name) const;  // -1: there is none
};

// In the order in which they are written.
const std::vector<SummaryTable>& SummaryTables();
const SummaryTable& SummaryTableOf(std::string_view file);

// The columns that a rank's file of the table can have, those of odd values (NAME.text, NAME.real)
// as well.
std::vector<ParquetColumn> WidestColumns(const SummaryTable& table);

// Tables of a gathered database that gather also leaves beside the summaries, for engines.
struct JobTable {
  const char* file;  // without its ending
  const char* table;
};
inline constexpr std::array kJobTables = {
    JobTable{"job_trace", "_trace"},     JobTable{"job_run", "_run"},
    JobTable{"job_capture", "_capture"}, JobTable{"job_group", "_process_group"},
    JobTable{"job_clock", "_clock"},     JobTable{"job_clock_pair", "_clock_pair"},
    JobTable{"job_issue", "_issue"},     JobTable{"job_cause", "_collective_cause"}};
// Beside these: where gather has put which trace of which summary.
inline constexpr const char* kPlaceFile = "job_place";
// Where they are, in the folder of the summaries.
inline constexpr const char* kGatheredFolder = "gathered";
inline constexpr const char* kGatheredAll = "gathered/all";

// SQL that fills temp.used_text and temp.used_args with what the rows of the trace refer to.
std::vector<std::string> UsedTextsSql();

// Tables of which a summary has every row that a rank's database has.
bool IsWholeInSummary(std::string_view table);

}  // namespace tracedb
