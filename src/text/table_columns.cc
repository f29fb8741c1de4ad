#include "text/table_columns.h"

#include <algorithm>
#include <numeric>
#include <string_view>

#include "tracedb/text/result_text.h"

namespace tracedb {
namespace {

constexpr size_t kCutTextMin = 12;   // a text that is cut keeps so much, if it has it
constexpr size_t kWrapTextMin = 24;  // a text that is wrapped has lines so long
constexpr size_t kLeadMin = 3;       // columns without which a table says too little

// Of every column, as if there were room.
std::vector<TableColumn> NaturalColumns(std::span<const Shown> titles,
                                        const std::vector<std::vector<Shown>>& rows, bool header) {
  std::vector<TableColumn> columns(titles.size());
  for (size_t i = 0; i < titles.size(); ++i) {
    bool has_number = false;
    bool has_other = false;
    columns[i].index = i;
    if (header) columns[i].width = std::max<size_t>(1, DisplayWidth(titles[i].text));
    for (const std::vector<Shown>& row : rows) {
      columns[i].width = std::max(columns[i].width, DisplayWidth(row[i].text));
      const SqlType type = row[i].type;
      has_number = has_number || type == SqlType::kInteger || type == SqlType::kReal;
      has_other = has_other || type == SqlType::kText || type == SqlType::kBlob;
    }
    columns[i].is_right = has_number && !has_other;
  }
  return columns;
}

bool Names(const std::vector<std::string>& list, const std::string& name) {
  return std::find(list.begin(), list.end(), name) != list.end();
}

// Indexes of columns, the most important first.
std::vector<size_t> ByImportance(std::span<const std::string> names,
                                 const std::vector<std::string>& lead) {
  std::vector<size_t> order(names.size());
  std::iota(order.begin(), order.end(), size_t{0});
  const auto place = [&](size_t i) { return std::find(lead.begin(), lead.end(), names[i]); };
  std::stable_sort(order.begin(), order.end(),
                   [&](size_t a, size_t b) { return place(a) < place(b); });
  return order;
}

}  // namespace

TableColumns ChooseColumns(std::span<const std::string> names, std::span<const Shown> titles,
                           const std::vector<std::vector<Shown>>& rows,
                           const SinkOptions& options) {
  TableColumns chosen;
  std::vector<TableColumn> all = NaturalColumns(titles, rows, options.header);
  const TableLayout& layout = options.table;
  chosen.is_vertical = layout.vertical;
  if (layout.width <= 0 || chosen.is_vertical) {
    chosen.shown = std::move(all);
    return chosen;
  }
  const auto room = static_cast<size_t>(layout.width);
  std::vector<size_t> floors(all.size());
  for (size_t i = 0; i < all.size(); ++i) {
    all[i].is_wrapped = Names(layout.wrap, names[i]);
    const size_t title = options.header ? DisplayWidth(titles[i].text) : 1;
    const size_t least = all[i].is_wrapped ? kWrapTextMin : kCutTextMin;
    floors[i] = all[i].is_right ? all[i].width : std::min(all[i].width, std::max(title, least));
  }
  std::vector<bool> is_shown(all.size(), false);
  size_t taken = 0;
  size_t leading = 0;
  const std::vector<size_t> order = ByImportance(names, layout.lead);
  for (size_t place = 0; place < order.size(); ++place) {
    const size_t more = floors[order[place]] + (taken > 0 ? kColumnGap.size() : 0);
    if (taken + more > room) continue;
    taken += more;
    is_shown[order[place]] = true;
    leading += place < kLeadMin ? 1 : 0;
  }
  // One row that is cut to pieces, and rows without what they are of or their point, are better
  // read downwards.
  bool fits = true;
  bool lacks_point = leading < std::min(kLeadMin, order.size());
  for (size_t i = 0; i < all.size(); ++i) {
    if (is_shown[i]) continue;
    fits = false;
    lacks_point = lacks_point || (all[i].is_wrapped && Names(layout.lead, names[i]));
  }
  if (!fits && (rows.size() == 1 || lacks_point)) {
    chosen.is_vertical = true;
    chosen.shown = std::move(all);
    return chosen;
  }
  std::vector<size_t> widths;
  std::vector<size_t> shown_floors;
  for (size_t i = 0; i < all.size(); ++i) {
    if (!is_shown[i]) {
      chosen.left_out.push_back(names[i]);
      continue;
    }
    chosen.shown.push_back(all[i]);
    widths.push_back(all[i].width);
    shown_floors.push_back(floors[i]);
  }
  NarrowColumns(widths, shown_floors, room);
  for (size_t i = 0; i < chosen.shown.size(); ++i) {
    TableColumn& column = chosen.shown[i];
    column.is_cut = widths[i] < column.width && !column.is_wrapped;
    column.width = widths[i];
  }
  return chosen;
}

}  // namespace tracedb
