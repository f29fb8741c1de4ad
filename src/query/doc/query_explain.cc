#include "tracedb/query/doc/query_explain.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "tracedb/text/result_text.h"

namespace tracedb {
namespace {

constexpr size_t kTextWidthMin = 24;
constexpr size_t kIndentBelow = 6;

std::string TypeAndUnit(DocType type, std::string_view unit) {
  return unit.empty() ? std::string(DocTypeName(type))
                      : fmt::format("{} ({})", DocTypeName(type), unit);
}

std::string TypeAndUnit(const QueryParam& param) {
  const std::string one = TypeAndUnit(param.type, param.unit);
  return param.takes_list ? one + " or list" : one;
}

std::string DefaultOf(const QueryParam& param) {
  if (!param.default_text.has_value()) return "must be given";
  if (param.default_is_null || param.type != DocType::kText)
    return "default " + *param.default_text;
  return fmt::format("default '{}'", *param.default_text);
}

void AppendLines(std::string& page, std::string_view text, size_t width, size_t indent) {
  if (width == 0) {
    page += std::string(indent, ' ').append(text) + '\n';
    return;
  }
  for (const std::string& line : WrapText(text, std::max(width, indent + kTextWidthMin) - indent)) {
    page += std::string(indent, ' ') + line + '\n';
  }
}

// A heading, then one line an item: the first texts in columns, the last after them, or where that
// leaves no room below them.
void AppendItems(std::string& page, std::string_view heading,
                 const std::vector<std::vector<std::string>>& items, size_t width) {
  if (items.empty()) return;
  std::vector<size_t> widths(items[0].size());
  for (const auto& item : items) {
    for (size_t i = 0; i < item.size(); ++i) widths[i] = std::max(widths[i], DisplayWidth(item[i]));
  }
  size_t indent = 2;
  for (size_t i = 0; i + 1 < widths.size(); ++i) indent += widths[i] + 2;
  page += fmt::format("\n{}\n", heading);
  for (const auto& item : items) {
    std::string head = " ";
    for (size_t i = 0; i + 1 < item.size(); ++i) {
      head += ' ' + item[i] + std::string(widths[i] - DisplayWidth(item[i]) + 1, ' ');
    }
    head += ' ';
    std::string text;
    if (width > 0 && indent + kTextWidthMin > width) {
      head.erase(head.find_last_not_of(' ') + 1);
      page += head + '\n';
      AppendLines(page, item.back(), width, kIndentBelow);
    } else {
      AppendLines(text, item.back(), width, indent);
      page += head + text.substr(std::min(indent, text.size()));
    }
  }
}

// A paragraph's lines are joined and broken anew; lists and what is set in stay as they are.
void AppendDescription(std::string& page, std::string_view text, size_t width) {
  if (text.empty()) return;
  page += '\n';
  std::string paragraph;
  const auto flush = [&] {
    if (!paragraph.empty()) AppendLines(page, std::exchange(paragraph, {}), width, 0);
  };
  while (!text.empty()) {
    const size_t end = std::min(text.find('\n'), text.size());
    const std::string_view line = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    const bool is_set = line.starts_with(' ') || line.starts_with('-');
    if (line.empty() || is_set || width == 0) flush();
    if (line.empty() || is_set || width == 0) {
      page.append(line) += '\n';
    } else {
      paragraph += (paragraph.empty() ? "" : " ") + std::string(line);
    }
  }
  flush();
}

void AppendNote(std::string& page, std::string_view heading, std::string_view text, size_t width) {
  if (text.empty()) return;
  page += fmt::format("\n{}\n", heading);
  AppendLines(page, text, width, 2);
}

std::string Documentation(const QueryDoc& doc, size_t width) {
  std::string page;
  AppendLines(page,
              doc.name + (doc.IsDocumented() ? ": " + doc.title : ": not documented (no header)"),
              width, 0);
  AppendDescription(page, doc.description, width);
  std::vector<std::vector<std::string>> params;
  for (const QueryParam& param : doc.params) {
    params.push_back({param.name, TypeAndUnit(param), DefaultOf(param), param.text});
  }
  AppendItems(page, "Parameters (-p name=value)", params, width);
  std::vector<std::vector<std::string>> columns;
  for (const QueryColumn& column : doc.columns) {
    columns.push_back({column.name, TypeAndUnit(column.type, column.unit), column.text});
  }
  AppendItems(page, "Columns", columns, width);
  if (doc.plot.has_value()) AppendNote(page, "Plot (--plot)", DescribePlot(*doc.plot), width);
  AppendNote(page, "What a row means", doc.meaning, width);
  AppendNote(page, "What to do", doc.advice, width);
  AppendNote(page, "When there is no row", doc.when_empty, width);
  return page;
}

}  // namespace

std::string DescribeParam(const QueryParam& param) {
  return fmt::format("{} {}, {}", param.name, TypeAndUnit(param), DefaultOf(param));
}

std::string ExplainQuery(const QueryDoc& doc, size_t width) {
  std::string page = Documentation(doc, width);
  std::string_view sql = doc.sql;
  while (!sql.empty() && (sql.front() == '\n' || sql.front() == '\r')) sql.remove_prefix(1);
  page += "\nSQL\n";
  page += sql;
  if (!page.ends_with('\n')) page += '\n';
  return page;
}

std::string QueryHelp(const QueryDoc& doc, size_t width) {
  std::string page = Documentation(doc, width);
  return page + fmt::format(
                    "\nUsage: tracedb query {0}{1} [OPTIONS]\nOptions: tracedb query --help\n"
                    "Its SQL: tracedb query {0} --explain\n",
                    doc.name, doc.params.empty() ? "" : " [-p NAME=VALUE]...");
}

}  // namespace tracedb
