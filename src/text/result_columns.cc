#include "tracedb/text/result_columns.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "tracedb/text/result_sinks.h"
#include "tracedb/text/result_text.h"

namespace tracedb {
namespace {

std::string ShownReal(double real, std::string_view column_name) {
  const double size = std::fabs(real);
  if (!std::isfinite(real) || size >= 1e15) return fmt::format("{:.6g}", real);
  if (column_name.ends_with("_ms")) return fmt::format("{:.3f}", real);
  if (column_name.ends_with("_pct")) return fmt::format("{:.2f}", real);
  return size >= 1e6 ? fmt::format("{:.0f}", real) : fmt::format("{:.6g}", real);
}

}  // namespace

Shown ShowCell(const Cell& cell, std::string_view column_name) {
  Shown shown;
  shown.type = cell.type;
  if (cell.type == SqlType::kReal) {
    shown.text = ShownReal(cell.real, column_name);
  } else if (cell.type == SqlType::kText) {
    shown.text = ShownText(cell.text);
  } else {
    AppendCell(shown.text, cell);
  }
  return shown;
}

bool NarrowColumns(std::vector<size_t>& widths, std::span<const size_t> floors, size_t room) {
  if (widths.empty()) return false;
  bool narrowed = false;
  for (size_t i = 0; i < widths.size(); ++i) {
    // At once, or a text of a megabyte would be a million rounds of what follows.
    const size_t widest = std::max(room, floors[i]);
    narrowed = narrowed || widths[i] > widest;
    widths[i] = std::min(widths[i], widest);
  }
  size_t total =
      std::accumulate(widths.begin(), widths.end(), kColumnGap.size() * (widths.size() - 1));
  while (total > room) {
    size_t widest = widths.size();
    for (size_t i = 0; i < widths.size(); ++i) {
      if (widths[i] <= floors[i]) continue;
      if (widest == widths.size() || widths[i] > widths[widest]) widest = i;
    }
    if (widest == widths.size()) return narrowed;
    --widths[widest];
    --total;
    narrowed = true;
  }
  return narrowed;
}

void AppendAligned(std::string& line, std::string_view text, size_t width, bool right) {
  const size_t taken = DisplayWidth(text);
  const size_t blanks = width > taken ? width - taken : 0;
  if (right) line.append(blanks, ' ');
  line += text;
  if (!right) line.append(blanks, ' ');
}

}  // namespace tracedb
