#include "compare/row_changes.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <memory>
#include <numeric>
#include <set>
#include <string>
#include <utility>

#include "compare/rank_roles.h"
#include "compare/recomputation.h"
#include "compare/row_matches.h"
#include "compare/series_tests.h"
#include "tracedb/schema/waiting_calls.h"

namespace tracedb {
namespace {

constexpr size_t kJudgedMax = 60;       // the largest changes
constexpr double kTellingShare = 1e-3;  // of the step: less is not worth a first row

struct Candidate {
  RowChange row;
  SeriesOfRun series;
};

using SeriesMember = std::vector<double> RowSeries::*;

SeriesOfRun SeriesOf(const Sides& sides, const RowMatch& match, SeriesMember member) {
  const RunSamples* first_base = sides.base.data();
  const size_t bases = sides.base.size();
  const auto sums = std::make_shared<std::map<const RunSamples*, std::vector<double>>>();
  return [=](const RunSamples& run) -> const std::vector<double>* {
    const bool is_base = &run >= first_base && &run < first_base + bases;
    const auto at = run.rows.find(is_base ? match.base : match.now);
    const std::vector<RowKey>& more = is_base ? match.more_base : match.more_now;
    const std::vector<double>* one = at == run.rows.end() ? nullptr : &(at->second.*member);
    if (more.empty()) return one;
    std::vector<double>& sum = (*sums)[&run];
    if (!sum.empty()) return &sum;
    sum.resize(run.used.steps);
    const auto add = [&](const std::vector<double>& values) {
      for (size_t i = 0; i < sum.size(); ++i) sum[i] += values[i];
    };
    if (one != nullptr) add(*one);
    for (const RowKey& key : more) {
      const auto further = run.rows.find(key);
      if (further != run.rows.end()) add(further->second.*member);
    }
    return &sum;
  };
}

std::vector<int64_t> RanksOf(const std::vector<RunSamples>& runs, const RowKey& key) {
  std::set<int64_t> ranks;
  for (const RunSamples& run : runs) {
    const auto at = run.rows.find(key);
    if (at != run.rows.end()) ranks.insert(at->second.ranks.begin(), at->second.ranks.end());
  }
  return {ranks.begin(), ranks.end()};
}

std::string PartOf(const Sides& sides, const RowMatch& match, std::string_view kind) {
  if (kind == "host" || kind == "annotation") return "idle_host";
  for (const auto* side : {&sides.base, &sides.now}) {
    for (const RunSamples& run : *side) {
      const auto at = run.parts.find(side == &sides.base ? match.base : match.now);
      if (at != run.parts.end()) return at->second;
    }
  }
  return "";
}

class RowFinder {
 public:
  // Of the step: a smaller change is the same. Between two runs that are alike the host takes half
  // as long again for one operator or another; the GPU does not.
  RowFinder(const Sides& sides, double step_ns)
      : sides_(sides),
        telling_ns_(step_ns * kTellingShare),
        gpu_least_ns_(step_ns * sides.effect_min / 2),
        host_least_ns_(step_ns * sides.effect_min) {}

  RowChanges Find() {
    const bool has_paths = sides_.base.front().has_paths;  // as all have, or none
    const std::set<std::string> crowded = CrowdedKinds();
    for (const RowMatch& match : MatchRows(sides_.base, sides_.now)) {
      const RowKey& key = match.Key();
      const bool is_same = match.in == RowIn::kBoth && match.base == match.now;
      if (crowded.contains(key.kind) && !is_same && key.name != kFurtherNames) continue;
      const bool is_gpu = key.kind == kGpuRow;
      const bool is_host = !is_gpu && key.kind != "kernel" && key.kind != "collective";
      const bool is_named =
          key.kind == "annotation" || key.kind == kPathRow || key.kind == kTimerRow;
      Add(match, is_host && !is_named ? "host" : is_gpu ? "operator" : key.kind, &RowSeries::ns);
      if (key.kind == "operator" && !has_paths) Add(match, "operator", &RowSeries::gpu_ns);
    }
    std::stable_sort(found_.begin(), found_.end(), [](const auto& left, const auto& right) {
      const double of_left = std::abs(left.row.new_ns - left.row.base_ns);
      const double of_right = std::abs(right.row.new_ns - right.row.base_ns);
      if (of_left != of_right) return of_left > of_right;
      return left.row.kind == "operator" && right.row.kind == "kernel";
    });
    const size_t left_out = found_.size() - std::min(found_.size(), kJudgedMax);
    Judge();
    return {Sorted(), left_out};
  }

 private:
  // Of which some rows are not told apart, on either side.
  std::set<std::string> CrowdedKinds() const {
    std::set<std::string> kinds;
    for (const auto* side : {&sides_.base, &sides_.now}) {
      for (const RunSamples& run : *side) {
        for (const auto& [kind, count] : run.rows_of_kind) {
          if (run.rows.contains({kind, kFurtherNames, ""})) kinds.insert(kind);
        }
      }
    }
    return kinds;
  }

  void Add(const RowMatch& match, const std::string& kind, SeriesMember member) {
    Candidate candidate;
    RowChange& row = candidate.row;
    row.kind = kind;
    row.name = match.Key().name;
    if (match.in == RowIn::kRenamed) row.base_name = match.base.name;
    row.path = match.Key().where;
    row.part = PartOf(sides_, match, kind);
    if (match.in == RowIn::kBoth || match.in == RowIn::kRenamed) {
      if (match.base.where != match.now.where) row.base_path = match.base.where;
    }
    row.in = match.in;
    candidate.series = SeriesOf(sides_, match, member);
    const SeriesOfRun calls = SeriesOf(sides_, match, &RowSeries::calls);
    row.base_calls = MiddleOf(sides_.base, calls);
    row.new_calls = MiddleOf(sides_.now, calls);
    row.base_ns = MiddleOf(sides_.base, candidate.series);
    row.new_ns = MiddleOf(sides_.now, candidate.series);
    const bool is_alone = match.in == RowIn::kBase || match.in == RowIn::kNew;
    if (kind == "annotation" && is_alone) {
      const bool is_base = match.in == RowIn::kBase;
      row.ranks = RolesOf(is_base ? sides_.base : sides_.now, is_base ? sides_.now : sides_.base,
                          RanksOf(is_base ? sides_.base : sides_.now, match.Key()));
      SetRareTime(row, candidate.series);
    }
    if (row.base_ns == row.new_ns && !is_alone) return;
    // An operator's GPU time says nothing of one that launches nothing, and a timer that few
    // iterations have nothing of the others.
    if ((kind == "operator" || kind == kTimerRow) && row.base_ns == 0 && row.new_ns == 0) return;
    found_.push_back(std::move(candidate));
  }

  // An annotation in steps that are not in the middle is determined by the mean of all of them.
  void SetRareTime(RowChange& row, const SeriesOfRun& series) const {
    if (row.base_ns != 0 || row.new_ns != 0) return;
    const auto& runs = row.in == RowIn::kBase ? sides_.base : sides_.now;
    double sum = 0;
    for (const RunSamples& run : runs) {
      const std::vector<double>* values = series(run);
      if (values == nullptr) continue;
      sum += std::accumulate(values->begin(), values->end(), 0.0) /
             static_cast<double>(values->size() * run.ranks);
    }
    (row.in == RowIn::kBase ? row.base_ns : row.new_ns) = sum / static_cast<double>(runs.size());
  }

  void Judge() {
    std::vector<Judgement> judgements;
    std::vector<double> ps;
    for (size_t i = 0; i < std::min(found_.size(), kJudgedMax); ++i) {
      const std::string& kind = found_[i].row.kind;
      const bool is_host =
          kind == "host" || kind == "annotation" || kind == kPathRow || kind == kTimerRow;
      judgements.push_back(
          JudgeSides(sides_, found_[i].series, is_host ? host_least_ns_ : gpu_least_ns_));
      ps.push_back(judgements.back().p);
    }
    const std::vector<double> adjusted = HolmAdjusted(ps);
    for (size_t i = 0; i < judgements.size(); ++i) {
      SetAdjustedP(judgements[i], adjusted[i]);
      found_[i].row.finding = FindingOf(judgements[i]);
      // Which names they are is not known to be the same on both sides.
      if (found_[i].row.name == kFurtherNames) found_[i].row.finding = {};
    }
    if (found_.size() > kJudgedMax) found_.resize(kJudgedMax);
  }

  std::vector<RowChange> Sorted() {
    std::vector<RowChange> rows;
    if (auto row = FindRecomputation(sides_, gpu_least_ns_)) rows.push_back(std::move(*row));
    for (Candidate& candidate : found_) rows.push_back(std::move(candidate.row));
    std::stable_sort(rows.begin(), rows.end(), [this](const auto& left, const auto& right) {
      return Place(left) < Place(right);
    });
    return rows;
  }

  // What a program was told to do comes before what that took, and what both sides wait in after
  // what they wait for; of the same place the largest first.
  int Place(const RowChange& row) const {
    if (row.kind == "recomputation") return 0;
    const bool is_telling = std::abs(row.new_ns - row.base_ns) >= telling_ns_;
    if (row.kind == "annotation" && is_telling && row.in == RowIn::kNew) return 1;
    if (row.kind == "annotation" && is_telling && row.in == RowIn::kBase) return 2;
    const bool is_told =
        row.finding.verdict == Verdict::kSlower || row.finding.verdict == Verdict::kFaster;
    const bool is_wait = row.kind == "host" && row.in == RowIn::kBoth && WaitsForGpu(row.name);
    return (is_told ? 3 : 5) + (is_wait ? 1 : 0);
  }

  const Sides& sides_;
  const double telling_ns_;
  const double gpu_least_ns_;
  const double host_least_ns_;
  std::vector<Candidate> found_;
};

}  // namespace

RowChanges FindRowChanges(const Sides& sides, double step_ns) {
  return RowFinder(sides, step_ns).Find();
}

}  // namespace tracedb
