// Rows of canned queries by step, added up into the series of a run.
#pragma once

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

#include "compare/run_reader.h"
#include "compare/run_samples.h"

namespace tracedb {

using StepId = std::pair<int64_t, int64_t>;  // capture and step

class RowsOfSteps {
 public:
  // `places`: of the steps that are compared.
  RowsOfSteps(const std::map<StepId, size_t>& places, RunSamples& samples)
      : places_(places), samples_(samples) {}

  // nullptr: of a step that is not compared. `key` becomes that of the row that it is counted in.
  RowSeries* At(const NamedRow& row, RowKey& key, size_t& place) {
    return At({row.Int("capture"), row.Int("step")}, key, place);
  }
  RowSeries* At(const NamedRow& row, RowKey&& key, size_t& place) { return At(row, key, place); }

  RowSeries* At(const StepId& id, RowKey&& key, size_t& place) { return At(id, key, place); }
  RowSeries* At(const StepId& id, RowKey& key, size_t& place) {
    const auto at = places_.find(id);
    if (at == places_.end()) return nullptr;
    place = at->second;
    auto row = samples_.rows.find(key);
    if (row == samples_.rows.end()) {
      size_t& count = samples_.rows_of_kind[key.kind];
      if (count >= RowsMax()) key = {std::move(key.kind), kFurtherNames, ""};
      bool is_new = false;
      std::tie(row, is_new) = samples_.rows.try_emplace(key);
      count += is_new ? 1 : 0;
    }
    RowSeries& series = row->second;
    if (series.ns.empty()) {
      series.ns.resize(places_.size());
      series.calls.resize(places_.size());
      series.gpu_ns.resize(places_.size());
    }
    return &series;
  }

 private:
  size_t RowsMax() const {  // of a kind
    constexpr size_t kRowsMax = 12'000;
    constexpr size_t kRowsMin = 64;
    constexpr size_t kValuesMax = 8'000'000;  // a row has some for each step
    return std::clamp(kValuesMax / std::max<size_t>(places_.size(), 1), kRowsMin, kRowsMax);
  }

  const std::map<StepId, size_t>& places_;
  RunSamples& samples_;
};

}  // namespace tracedb
