#include "text/table_columns.h"

#include <algorithm>
#include <numeric>
#include <string_view>
#include <utility>

#include "tracedb/text/result_text.h"

namespace tracedb {
namespace {

constexpr size_t kCutTextMin = 12;    // a text that is cut keeps so much, if it has it
constexpr size_t kWholeTextMax = 19;  // a text up to this is not cut: a word, a time
constexpr size_t kTellingText =
    32;  // of a name so much is worth more than a column that is no lead
constexpr size_t kWrapTextMin = 24;   // a text that is wrapped has lines so long
constexpr ptrdiff_t kFirstLeads = 6;  // with run and capture, which come before all others
constexpr size_t kLeadMin = 3;        // columns without which a table says too little

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

// Whether no row has anything in it but these letters.
bool HasOnly(std::string_view letters, const std::vector<std::vector<Shown>>& rows, size_t column) {
  return !rows.empty() && std::all_of(rows.begin(), rows.end(), [&](const auto& row) {
    return row[column].text.find_first_not_of(letters) == std::string::npos;
  });
}

// Indexes of columns, the most important first. What is empty says least, or is 0 in each row and
// none of the first leads.
std::vector<size_t> ByImportance(std::span<const std::string> names,
                                 const std::vector<std::vector<Shown>>& rows,
                                 const std::vector<std::string>& lead) {
  std::vector<size_t> order(names.size());
  std::iota(order.begin(), order.end(), size_t{0});
  const auto place = [&](size_t i) {
    const auto found = std::find(lead.begin(), lead.end(), names[i]);
    const bool may_be_zero = lead.empty() || found - lead.begin() < kFirstLeads;
    return std::pair(HasOnly(may_be_zero ? "" : "0.", rows, i), found);
  };
  std::stable_sort(order.begin(), order.end(),
                   [&](size_t a, size_t b) { return place(a) < place(b); });
  return order;
}

// The least width that a column makes do with.
size_t FloorOf(const TableColumn& column, size_t title_width) {
  if (column.is_right) return column.width;
  const size_t least = column.is_wrapped               ? kWrapTextMin
                       : column.width <= kWholeTextMax ? column.width
                                                       : kCutTextMin;
  return std::min(column.width, std::max(title_width, least));
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
    floors[i] = FloorOf(all[i], options.header ? DisplayWidth(titles[i].text) : 1);
  }
  std::vector<bool> is_shown(all.size(), false);
  size_t taken = 0;
  size_t leading = 0;
  size_t kept = 0;  // for texts among the leading columns, which then have more than their floor
  const std::vector<size_t> order = ByImportance(names, rows, layout.lead);
  for (size_t place = 0; place < order.size(); ++place) {
    const size_t column = order[place];
    const bool is_lead = layout.lead.empty() || Names(layout.lead, names[column]);
    const size_t more = floors[column] + (taken > 0 ? kColumnGap.size() : 0);
    if (taken + more + (is_lead ? 0 : kept) > room) continue;
    taken += more;
    is_shown[column] = true;
    leading += place < kLeadMin ? 1 : 0;
    if (!is_lead || all[column].is_right) continue;
    kept += std::max(floors[column], std::min(all[column].width, kTellingText)) - floors[column];
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
