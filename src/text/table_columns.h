// Which columns of a result a table of a given width shows, and how wide each is.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tracedb/text/result_columns.h"
#include "tracedb/text/result_sink.h"

namespace tracedb {

struct TableColumn {
  size_t index = 0;  // in the result
  size_t width = 1;
  bool is_right = false;  // a column of numbers
  bool is_cut = false;    // its texts are cut to the width
  bool is_wrapped = false;
};

struct TableColumns {
  std::vector<TableColumn> shown;     // in the result's order
  std::vector<std::string> left_out;  // names, in the result's order
  bool is_vertical = false;           // not even one row fits
};

// By the first rows. Numbers are never cut: half a number is a wrong one. A column that has no room
// is left out, the least important first.
TableColumns ChooseColumns(std::span<const std::string> names, std::span<const Shown> titles,
                           const std::vector<std::vector<Shown>>& rows, const SinkOptions& options);

}  // namespace tracedb
