// Rows of canned queries by step, added up into the series of a run.
#pragma once

#include <algorithm>
#include <map>
#include <utility>

#include "compare/run_reader.h"
#include "compare/run_samples.h"

namespace tracedb {

using StepId = std::pair<int64_t, int64_t>;  // capture and step

// Of a run that has more rows, those that come later are one of each kind: a program that gives
// each kernel a name of its own takes no more memory than others.
inline constexpr const char* kFurtherNames = "(further names)";

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
      if (samples_.rows.size() >= RowsMax()) key = {std::move(key.kind), kFurtherNames, ""};
      row = samples_.rows.try_emplace(key).first;
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
  size_t RowsMax() const {
    constexpr size_t kRowsMax = 30'000;
    constexpr size_t kRowsMin = 64;
    constexpr size_t kValuesMax = 8'000'000;  // a row has some for each step
    return std::clamp(kValuesMax / std::max<size_t>(places_.size(), 1), kRowsMin, kRowsMax);
  }

  const std::map<StepId, size_t>& places_;
  RunSamples& samples_;
};

}  // namespace tracedb
