#include "replay/changes/balance_factors.h"

#include <map>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "replay/changes/change_reader.h"
#include "replay/peers/pipeline_places.h"
#include "tracedb/base/interval.h"

namespace tracedb {
namespace {

// Ranks among which work is evened out: each by itself, or those of a stage together.
Result<std::map<int64_t, int64_t>> StagesOf(SqliteDb& db, const JobRows& job,
                                            const std::string& what) {
  std::map<int64_t, int64_t> stage_of;
  if (what == "ranks") {
    for (const JobTrace& trace : job.traces) stage_of[trace.rank] = trace.rank;
    return stage_of;
  }
  if (what != "stages") return NotUnderstood("balance: ranks or stages is wanted");
  TRACEDB_ASSIGN(places, PipelinePlaces(db, job));
  stage_of = std::move(places);
  if (!stage_of.empty() || job.traces.empty()) return stage_of;
  return NotUnderstood(
      "balance: no process group of this job is a pipeline's, so that its stages are not known");
}

}  // namespace

Result<BalancedBy> BalanceFactors(SqliteDb& db, const JobRows& job, const std::string& what) {
  TRACEDB_ASSIGN(stage_of, StagesOf(db, job, what));
  std::map<int64_t, std::map<int64_t, std::map<int64_t, int64_t>>> computed;  // step, stage, rank
  for (const Activity& activity : job.activities) {
    if (activity.kind != GpuKind::kCompute) continue;
    const int64_t rank = job.traces[job.TraceOf(activity)].rank;
    const auto stage = stage_of.find(rank);
    if (stage == stage_of.end()) continue;
    int64_t& sum_ns = computed[job.StepOf(activity)][stage->second][rank];
    sum_ns = SumNs(sum_ns, activity.finish_ns - activity.start_ns);
  }
  BalancedBy factors;
  for (const auto& [step, stages] : computed) {
    std::vector<double> means;
    for (const auto& [stage, ranks] : stages) {
      double all = 0;
      for (const auto& [rank, sum_ns] : ranks) all += static_cast<double>(sum_ns);
      means.push_back(all / static_cast<double>(ranks.size()));
    }
    const double mean =
        std::accumulate(means.begin(), means.end(), 0.0) / static_cast<double>(means.size());
    size_t at = 0;
    for (const auto& [stage, ranks] : stages) {
      const double own = means[at++];
      for (const auto& [rank, sum_ns] : ranks) factors[{step, rank}] = own > 0 ? mean / own : 1;
    }
  }
  return factors;
}

}  // namespace tracedb
