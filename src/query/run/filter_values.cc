#include "query/run/filter_values.h"

#include <fmt/format.h>

#include <array>
#include <string_view>

#include "tracedb/text/number_ranges.h"
#include "tracedb/text/result_text.h"

namespace tracedb {
namespace {

struct Filter {
  std::string_view name;  // the parameter, and the column
  std::string_view view;
};

constexpr std::array<Filter, 5> kFilters = {{
    {"run", "runs"},
    {"capture", "captures"},
    {"rank", "ranks"},
    {"step", "steps"},
    {"device", "streams"},
}};
constexpr int64_t kListedMax = 16;  // more are said by how many, the lowest and the highest

Result<std::string> Missing(SqliteDb& db, const Filter& filter, std::string_view value) {
  TRACEDB_ASSIGN(known,
                 db.Prepare(fmt::format("WITH wanted (value) AS (SELECT CAST(value AS TEXT) "
                                        "                        FROM json_each(?1)) "
                                        "SELECT count(*), min(value), max(value), "
                                        "  ifnull(max(CAST(value AS TEXT) IN wanted), 0), "
                                        "  group_concat(value, ', ') "
                                        "FROM (SELECT DISTINCT {0} AS value FROM {1} ORDER BY 1)",
                                        filter.name, filter.view)));
  const std::string values = FilterValuesAsJson(filter.name, value);
  TRACEDB_TRY(known.Bind(1, std::string_view(values)));
  TRACEDB_TRY(known.Step());
  if (known.Int(3) != 0) return std::string();
  const std::string missing = fmt::format("there is no {} {}", filter.name, ShownText(value));
  const int64_t count = known.Int(0);
  if (count == 0) return missing + "; the database has none";
  if (count == 1) {
    return fmt::format("{}; there is {} {}", missing, filter.name, ShownText(known.Text(1)));
  }
  if (count <= kListedMax) {
    return fmt::format("{}; there are {}s {}", missing, filter.name, ShownText(known.Text(4)));
  }
  return fmt::format("{}; there are {} {}s, from {} to {}", missing, count, filter.name,
                     ShownText(known.Text(1)), ShownText(known.Text(2)));
}

}  // namespace

std::optional<std::string_view> FilterValue(std::span<const std::string> params,
                                            std::string_view parameter) {
  for (const std::string& param : params) {
    const size_t equals = param.find('=');
    if (equals == std::string::npos) continue;
    std::string_view name = std::string_view(param).substr(0, equals);
    if (name.starts_with(':')) name.remove_prefix(1);
    if (name != parameter) continue;
    const std::string_view value = std::string_view(param).substr(equals + 1);
    if (!value.empty() && value != "null") return value;
  }
  return std::nullopt;
}

std::string FilterValuesAsJson(std::string_view parameter, std::string_view value) {
  const auto ranges = parameter == "run" ? std::nullopt : ParseRanges(value);
  const auto listed = ranges.has_value() ? RangesAsJson(*ranges) : std::nullopt;
  if (listed.has_value()) return *listed;
  std::string json = "[";
  AppendJsonText(json, value);
  return json + "]";
}

Result<std::string> DescribeMissingValue(SqliteDb& db, std::span<const std::string> params) {
  if (FilterValue(params, "limit") == "0") return std::string("limit=0 asks for no row");
  for (const Filter& filter : kFilters) {
    const auto value = FilterValue(params, filter.name);
    if (!value.has_value()) continue;
    auto missing = Missing(db, filter, *value);
    if (!missing.ok() && missing.error().kind != ErrorKind::kQuery) return missing;
    if (missing.ok() && !missing.value().empty()) return missing;
  }
  return std::string();
}

}  // namespace tracedb
