#include "query/doc/query_explain.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "tracedb/text/result_text.h"

namespace tracedb {
namespace {

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

// A heading, then one line an item: the first texts in columns, the last as it is.
void AppendItems(std::string& page, std::string_view heading,
                 const std::vector<std::vector<std::string>>& items) {
  if (items.empty()) return;
  std::vector<size_t> widths(items[0].size());
  for (const auto& item : items) {
    for (size_t i = 0; i < item.size(); ++i) widths[i] = std::max(widths[i], DisplayWidth(item[i]));
  }
  page += fmt::format("\n{}\n", heading);
  for (const auto& item : items) {
    page += ' ';
    for (size_t i = 0; i + 1 < item.size(); ++i) {
      page += ' ' + item[i] + std::string(widths[i] - DisplayWidth(item[i]) + 1, ' ');
    }
    page += ' ' + item.back() + '\n';
  }
}

}  // namespace

std::string DescribeParam(const QueryParam& param) {
  return fmt::format("{} {}, {}", param.name, TypeAndUnit(param), DefaultOf(param));
}

std::string ExplainQuery(const QueryDoc& doc) {
  std::string page = doc.name;
  page += doc.IsDocumented() ? ": " + doc.title + '\n' : ": not documented (no header)\n";
  if (!doc.description.empty()) page += '\n' + doc.description + '\n';
  std::vector<std::vector<std::string>> params;
  for (const QueryParam& param : doc.params) {
    params.push_back({param.name, TypeAndUnit(param), DefaultOf(param), param.text});
  }
  AppendItems(page, "Parameters (-p name=value)", params);
  std::vector<std::vector<std::string>> columns;
  for (const QueryColumn& column : doc.columns) {
    columns.push_back({column.name, TypeAndUnit(column.type, column.unit), column.text});
  }
  AppendItems(page, "Columns", columns);
  if (doc.plot.has_value()) page += "\nPlot (--plot)\n  " + DescribePlot(*doc.plot) + '\n';
  if (!doc.meaning.empty()) page += "\nWhat a row means\n  " + doc.meaning + '\n';
  if (!doc.advice.empty()) page += "\nWhat to do\n  " + doc.advice + '\n';
  if (!doc.when_empty.empty()) page += "\nWhen there is no row\n  " + doc.when_empty + '\n';
  std::string_view sql = doc.sql;
  while (!sql.empty() && (sql.front() == '\n' || sql.front() == '\r')) sql.remove_prefix(1);
  page += "\nSQL\n";
  page += sql;
  if (!page.ends_with('\n')) page += '\n';
  return page;
}

}  // namespace tracedb
