// Rows of canned queries by step, added up into the series of a run.
#pragma once

#include <map>
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

  // nullptr: of a step that is not compared.
  RowSeries* At(const NamedRow& row, RowKey key, size_t& place) {
    return At({row.Int("capture"), row.Int("step")}, std::move(key), place);
  }

  RowSeries* At(const StepId& id, RowKey key, size_t& place) {
    const auto at = places_.find(id);
    if (at == places_.end()) return nullptr;
    place = at->second;
    RowSeries& series = samples_.rows[std::move(key)];
    if (series.ns.empty()) {
      series.ns.resize(places_.size());
      series.calls.resize(places_.size());
      series.gpu_ns.resize(places_.size());
    }
    return &series;
  }

 private:
  const std::map<StepId, size_t>& places_;
  RunSamples& samples_;
};

}  // namespace tracedb
