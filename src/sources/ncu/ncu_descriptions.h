// What metrics mean: `ncu --query-metrics`, and lists that were made of it.
//
//   Device NVIDIA A100-SXM4-40GB (GA100)
//   ---------------------- ----------- ---------- -------------------------
//   Metric Name            Metric Type Metric Unit Metric Description
//   ---------------------- ----------- ---------- -------------------------
//   dram__bytes_read       Counter     byte       # of bytes read from DRAM
//   .sum .sum.per_second                          the parts that were asked for, in a list
#pragma once

#include <string>
#include <string_view>

#include "tracedb/base/result.h"
#include "tracedb/sources/read/source_reader.h"

namespace tracedb {

// Whether most lines of the text are such.
bool LooksLikeNcuDescriptions(std::string_view text, bool is_whole);

Status ReadNcuDescriptions(SourceText& text, SourceRows& rows);

}  // namespace tracedb
