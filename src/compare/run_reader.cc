#include "compare/run_reader.h"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <utility>

#include "tracedb/query/run/query_run.h"

namespace tracedb {
namespace {

class EachRow : public RowSink {
 public:
  explicit EachRow(const std::function<void(const NamedRow&)>& take) : take_(take) {}
  Status Begin(std::span<const std::string> names) override {
    names_.assign(names.begin(), names.end());
    return Done{};
  }
  Status Row(std::span<const Cell> cells) override {
    take_({names_, cells});
    return Done{};
  }
  Status End() override { return Done{}; }

 private:
  const std::function<void(const NamedRow&)>& take_;
  std::vector<std::string> names_;
};

}  // namespace

const Cell& NamedRow::At(std::string_view name) const {
  const auto at = std::find(names_.begin(), names_.end(), name);
  assert(at != names_.end());
  return cells_[static_cast<size_t>(at - names_.begin())];
}

int64_t NamedRow::Ns(std::string_view name) const {
  const Cell& cell = At(name);
  if (cell.type == SqlType::kInteger) return cell.integer * 1'000'000;
  return std::llround(cell.real * 1e6);
}

Status RunReader::Each(std::string_view query,
                       const std::function<void(const NamedRow&)>& take) const {
  return With("run=" + run).EachOfAll(query, take);
}

Status RunReader::EachOfAll(std::string_view query,
                            const std::function<void(const NamedRow&)>& take) const {
  TRACEDB_ASSIGN(doc, catalog.Get(query));
  TRACEDB_ASSIGN(prepared, PreparedQuery::Prepare(db, *doc, {params, ""}));
  EachRow sink(take);
  TRACEDB_TRY(prepared.Run(sink));
  return Done{};
}

RunReader RunReader::With(std::string param) const {
  RunReader reader = *this;
  reader.params.push_back(std::move(param));
  return reader;
}

}  // namespace tracedb
