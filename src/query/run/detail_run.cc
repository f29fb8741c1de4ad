#include "query/run/detail_run.h"

#include <fmt/format.h>

#include <optional>
#include <utility>

#include "tracedb/text/result_text.h"

namespace tracedb {
namespace {

// Several results as one: the first one's names, all rows.
class JoinedRows : public RowSink {
 public:
  explicit JoinedRows(RowSink& sink) : sink_(sink) {}

  Status Begin(std::span<const std::string> column_names) override {
    return std::exchange(begun_, true) ? Status(Done{}) : sink_.Begin(column_names);
  }
  Status Row(std::span<const Cell> cells) override { return sink_.Row(cells); }
  Status End() override { return Done{}; }
  Status Caption(std::string_view text) override {
    return begun_ ? Status(Done{}) : sink_.Caption(text);
  }
  Status Finish() { return begun_ ? sink_.End() : Status(Done{}); }

 private:
  RowSink& sink_;
  bool begun_ = false;
};

std::string ValueOf(const std::vector<std::string>& params, std::string_view key) {
  std::string value;
  for (const std::string& param : params) {
    const size_t equals = param.find('=');
    if (equals != std::string::npos && std::string_view(param).substr(0, equals) == key) {
      value = param.substr(equals + 1);
    }
  }
  return value;
}

std::vector<std::string> ParamsOfRank(std::vector<std::string> params, int64_t rank) {
  std::erase_if(params, [](const std::string& param) { return param.starts_with("rank="); });
  params.push_back(fmt::format("rank={}", rank));
  return params;
}

}  // namespace

Result<std::vector<RankPlace>> PlacesOfDetail(SqliteDb& gathered, const QueryDoc& doc,
                                              const std::vector<std::string>& params) {
  const auto refused = [&doc](const std::string& why) {
    return Error{ErrorKind::kUsage, fmt::format("{}: no --detail: {}", doc.name, why),
                 "what compares ranks and reads single events needs one database of all their "
                 "traces: tracedb ingest"};
  };
  if (!doc.IsDocumented()) {
    return Error{ErrorKind::kUsage, "--detail is for canned queries",
                 "SQL of your own can be asked of a rank's database: --db PATH"};
  }
  if (const std::string why = WhyNotByRank(doc, 1); !why.empty()) return refused(why);
  const std::string ranks = ValueOf(params, "rank");
  if (ranks.empty()) {
    return Error{ErrorKind::kUsage,
                 "--detail asks the databases of single ranks, and none is named",
                 fmt::format("for example: tracedb query {} --detail -p rank=0", doc.name)};
  }
  TRACEDB_ASSIGN(places, FindRankPlaces(gathered, ranks, ValueOf(params, "run")));
  if (const std::string why = WhyNotByRank(doc, places.size()); !why.empty()) return refused(why);
  return places;
}

Result<QueryOutcome> RunDetail(const QueryOptions& options, const QueryDoc& doc,
                               const std::vector<RankPlace>& places, RowSink& sink) {
  JoinedRows joined(sink);
  QueryOutcome all;
  std::optional<Error> unheld;  // an assertion that did not hold; the other ranks are shown
  for (const RankPlace& place : places) {
    TRACEDB_ASSIGN(db, OpenRankDatabase(options.database, place));
    if (options.on_open) TRACEDB_TRY(options.on_open(db));
    const auto run = [&]() -> Result<QueryOutcome> {
      TRACEDB_ASSIGN(query, PreparedQuery::Prepare(db, doc,
                                                   {ParamsOfRank(options.params, place.rank),
                                                    options.assert_expression}));
      return query.Run(joined);
    };
    const auto outcome = run();
    if (options.on_close) options.on_close();
    if (!outcome.ok() && outcome.error().kind != ErrorKind::kAssert) return outcome.error();
    if (!outcome.ok()) {
      unheld = outcome.error();
      continue;
    }
    all.rows += outcome.value().rows;
    if (all.note.empty()) all.note = outcome.value().note;
  }
  TRACEDB_TRY(joined.Finish());
  if (unheld.has_value()) return *unheld;
  if (all.rows > 0) all.note.clear();
  const RankPlace& first = places.front();
  const std::string more =
      places.size() > 1 ? fmt::format(" and of {} more ranks", places.size() - 1) : "";
  all.note += fmt::format("{}from the database of rank {}{}: {} on {}; ids are its own",
                          all.note.empty() ? "" : "; ", first.rank, more,
                          ShownText(first.database.string()), ShownText(first.host));
  return all;
}

}  // namespace tracedb
