// What formats for people share: how a value is shown, and columns that fit a line.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tracedb/text/result_sink.h"

namespace tracedb {

inline constexpr size_t kCutWidthMin = 8;  // text columns are not made narrower than this
inline constexpr std::string_view kColumnGap = "  ";

struct Shown {
  std::string text;
  SqlType type = SqlType::kNull;
};

// Reals are rounded by their column's unit, texts do nothing to a terminal; nothing for NULL.
Shown ShowCell(const Cell& cell, std::string_view column_name);

// Narrows the widest column, again and again, until all of them with the gaps between take no more
// than `room`, or none can give more. No column is made narrower than its floor. True: some were
// narrowed.
bool NarrowColumns(std::vector<size_t>& widths, std::span<const size_t> floors, size_t room);

// The text, and blanks to the width: after it, or in front where `right`.
void AppendAligned(std::string& line, std::string_view text, size_t width, bool right);

}  // namespace tracedb
