#include "query/run/empty_reason.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <string_view>
#include <vector>

#include "query/run/filter_values.h"
#include "tracedb/text/result_text.h"

namespace tracedb {
namespace {

constexpr size_t kListedMax = 8;

using Reasons = std::map<int64_t, std::string>;  // by rank

Status Collect(SqliteDb& db, const std::string& check, Reasons& reasons) {
  TRACEDB_ASSIGN(found, db.Prepare(check));
  std::optional<int> rank;
  std::optional<int> reason;
  for (int i = 0; i < found.ColumnCount(); ++i) {
    const std::string_view name = found.ColumnName(i);
    if (name == "rank") rank = i;
    if (name == "reason") reason = i;
  }
  if (!rank.has_value() || !reason.has_value()) return Done{};
  while (true) {
    TRACEDB_ASSIGN(more, found.Step());
    if (!more) return Done{};
    reasons.try_emplace(found.Int(*rank), found.Text(*reason));
  }
}

// The ranks asked for that have a reason; none where another has GPU activity.
Result<std::vector<int64_t>> RanksWithout(SqliteDb& db, std::span<const std::string> params,
                                          const Reasons& reasons) {
  const auto wanted = FilterValue(params, "rank");
  TRACEDB_ASSIGN(known, db.Prepare("SELECT rank, total(gpu_activities) > 0 FROM traces "
                                   "WHERE ?1 IS NULL OR CAST(rank AS TEXT) IN "
                                   "  (SELECT CAST(value AS TEXT) FROM json_each(?1)) "
                                   "GROUP BY rank ORDER BY rank"));
  const std::string values = wanted.has_value() ? FilterValuesAsJson("rank", *wanted) : "";
  if (wanted.has_value()) TRACEDB_TRY(known.Bind(1, std::string_view(values)));
  std::vector<int64_t> ranks;
  while (true) {
    TRACEDB_ASSIGN(more, known.Step());
    if (!more) return ranks;
    if (reasons.contains(known.Int(0))) {
      ranks.push_back(known.Int(0));
    } else if (known.Int(1) != 0) {
      return std::vector<int64_t>();
    }
  }
}

Result<std::string> Describe(SqliteDb& db, std::span<const std::string> checks,
                             std::span<const std::string> params) {
  Reasons reasons;
  for (const std::string& check : checks) TRACEDB_TRY(Collect(db, check, reasons));
  TRACEDB_ASSIGN(ranks, RanksWithout(db, params, reasons));
  if (ranks.empty()) return std::string();
  std::string listed;
  for (size_t i = 0; i < std::min(ranks.size(), kListedMax); ++i) {
    listed += fmt::format("{}{}", i == 0 ? "" : ", ", ranks[i]);
  }
  if (ranks.size() > kListedMax) listed += fmt::format(" and {} more", ranks.size() - kListedMax);
  return fmt::format("rank{} {}: {}; `tracedb doctor` says what to do",
                     ranks.size() == 1 ? "" : "s", listed, ShownText(reasons.at(ranks[0])));
}

}  // namespace

Result<std::string> DescribeEmptiness(SqliteDb& db, std::span<const std::string> checks,
                                      std::span<const std::string> params) {
  if (checks.empty()) return std::string();
  auto described = Describe(db, checks, params);
  // Where the reason cannot be asked for there is none; a file that cannot be read is an error.
  if (!described.ok() && described.error().kind == ErrorKind::kQuery) return std::string();
  return described;
}

}  // namespace tracedb
