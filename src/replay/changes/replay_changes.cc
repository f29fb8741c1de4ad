#include "replay/changes/replay_changes.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "replay/changes/balance_factors.h"
#include "replay/changes/change_reader.h"
#include "replay/changes/host_slices.h"
#include "replay/changes/late_ends.h"
#include "replay/changes/late_slices.h"
#include "replay/changes/scaled_weight.h"
#include "replay/changes/summary_changes.h"
#include "replay/graph/host_steps.h"
#include "replay/graph/stop_watch.h"
#include "tracedb/base/interval.h"
#include "tracedb/schema/event_tables.h"

namespace tracedb {
namespace {

class Weights {
 public:
  Weights(SqliteDb& db, const ReplayGraph& graph, PeersOfGraph& peers, HostOwners& owners,
          EdgeTimes& weights)
      : db_(db),
        watch_(db),
        graph_(graph),
        rows_(graph.rows()),
        ideal_(peers.ideal),
        host_work_(peers.host_work),
        gpu_work_(peers.gpu_work),
        own_(peers.own),
        owners_(owners),
        weights_(weights) {
    weights_ = graph.weights();
  }

  // Ranks that hide each other are late together: all of them are looked at where the first is.
  Status ApplyAll(const std::vector<Change>& changes) {
    std::set<int64_t> late;
    for (const Change& change : changes) {
      if (change.rank_late.has_value()) late.insert(*change.rank_late);
      if (change.untold == "stays") untold_ = Untold::kStays;
      if (change.untold == "goes") untold_ = Untold::kGoes;
    }
    for (const Change& change : changes) {
      if (!change.untold.empty()) continue;
      if (!change.rank_late.has_value()) TRACEDB_TRY(Apply(change));
      if (!change.rank_late.has_value() || late.empty()) continue;
      TRACEDB_TRY(DropLateness(late));
      late.clear();
    }
    return Done{};
  }

  const Status& status() const { return watch_.status(); }

 private:
  Status Apply(const Change& change) {
    TRACEDB_TRY(CheckStep(change));
    if (rows_.is_of_summaries) TRACEDB_TRY(CheckOfSummaries(db_, change));
    if (!change.ideal.empty()) return ideal_.Apply(db_, change, weights_);
    if (change.slice.has_value()) {
      TRACEDB_ASSIGN(known, db_.Prepare("SELECT 1 FROM slices WHERE slice_id = ?1"));
      TRACEDB_TRY(known.Bind(1, *change.slice));
      TRACEDB_ASSIGN(any, known.Step());
      if (!any) return NotUnderstood("there is no slice " + std::to_string(*change.slice));
      const int64_t all_ns = std::numeric_limits<int64_t>::max();
      TRACEDB_ASSIGN(is_waited_for, Shorten({{*change.slice, change.shorten_ns.value_or(all_ns)}}));
      return is_waited_for ? Status(Done{})
                           : NothingWaits("slice " + std::to_string(*change.slice));
    }
    if (change.short_host.has_value()) return ScaleShortHost(change);
    if (change.recorder.has_value()) return ScaleRecorder(change);
    if (!change.held_by.empty()) return ScaleHeld(change);
    if (!change.transfers.empty()) return ScaleTransfers(change);
    if (!change.waits.empty()) return DropWaits(change);
    if (change.launch_latency_ns.has_value()) return BoundLaunches(*change.launch_latency_ns);
    if (!change.balance.empty()) return Balance(change);
    return ScaleSlices(change);
  }

  // Of another capture it may be; of none it is a mistake, and not a gain of 0.
  Status CheckStep(const Change& change) {
    if (!change.step.has_value()) return Done{};
    TRACEDB_ASSIGN(known, db_.Prepare("SELECT 1 FROM _step WHERE step = ?1 LIMIT 1"));
    TRACEDB_TRY(known.Bind(1, *change.step));
    TRACEDB_ASSIGN(any, known.Step());
    if (any) return Done{};
    return NotUnderstood("there is no step " + std::to_string(*change.step));
  }

  static Error NothingWaits(const std::string& what) {
    return NotUnderstood(what +
                         " is on a thread that launches nothing: what waits for it is not "
                         "recorded, and so not what it costs");
  }

  // Each edge into the finish of an activity that is wanted weighs what `use` says, which is asked
  // with the activity, the weight so far, and what the edge is.
  template <typename Wants, typename Use>
  void ForEachRun(const Wants& wants, const Use& use) {
    for (uint32_t i = 0; i < rows_.activities.size(); ++i) {
      if (watch_.Asked()) return;
      const Activity& activity = rows_.activities[i];
      if (!wants(activity)) continue;
      const uint32_t node = graph_.finish(i);
      for (uint32_t edge = graph_.first_edge(node); edge < graph_.end_edge(node); ++edge) {
        const int64_t weight_ns = weights_[edge];
        if (weight_ns == kNoEdge) continue;
        weights_.Set(edge, use(activity, weight_ns, graph_.kind(edge)));
      }
    }
  }

  // The same of each edge that is work of a host: from and to which node, and when that was. An
  // edge that keeps its weight is not set: its block stays that of all replays.
  template <typename Use>
  void ForEachHost(const Change& change, const Use& use) {
    for (uint32_t node = 0; node < graph_.nodes().size(); ++node) {
      if (watch_.Asked()) return;
      if (!graph_.IsOfHost(node) || !IsOf(change, graph_.TraceOf(node))) continue;
      for (uint32_t edge = graph_.first_edge(node); edge < graph_.end_edge(node); ++edge) {
        const int64_t weight_ns = weights_[edge];
        if (weight_ns <= 0 || !IsHost(graph_.kind(edge))) continue;
        const int64_t at_ns = graph_.nodes()[node].at_ns;
        const Interval range{DifferenceNs(at_ns, graph_.WorkNs(edge, node)), at_ns};
        const int64_t wanted_ns = use(weight_ns, graph_.from(edge), node, range);
        if (wanted_ns != weight_ns) weights_.Set(edge, wanted_ns);
      }
    }
  }

  bool IsOf(const Change& change, uint32_t trace) const {
    return !change.rank.has_value() || rows_.traces[trace].rank == *change.rank;
  }

  static std::string_view KindName(const Activity& activity) {
    return kGpuKindNames[static_cast<size_t>(activity.kind)];
  }

  Status ScaleSlices(const Change& change) {
    const auto kind = std::find(kGpuKindNames.begin(), kGpuKindNames.end(), change.kind);
    const bool is_of_one_kind = kind != kGpuKindNames.end();
    const bool host_only = change.kind == "host";
    if (!change.kind.empty() && !is_of_one_kind && !host_only) {
      return NotUnderstood("kind: compute, communication, memory, waiting or host is wanted");
    }
    std::unordered_set<int64_t> names;
    if (change.names_slices()) {
      TRACEDB_ASSIGN(found, NamesOf(db_, change));
      names = std::move(found);
      if (rows_.is_of_summaries) TRACEDB_TRY(CheckNamesOfSummaries(db_, rows_, names));
    }
    bool is_of_gpu = false;
    if (!host_only) {
      const auto is_meant = [&](const Activity& activity) {
        if (!IsOf(change, rows_.TraceOf(activity))) return false;
        if (change.step.has_value() && rows_.StepOf(activity) != *change.step) return false;
        if (is_of_one_kind && KindName(activity) != *kind) return false;
        return !change.names_slices() || names.contains(rows_.NameOf(activity));
      };
      ForEachRun(is_meant, [&](const Activity&, int64_t weight_ns, EdgeKind) {
        is_of_gpu = true;
        return Scaled(weight_ns, change.factor);
      });
    }
    if (is_of_one_kind || rows_.is_of_summaries) return Done{};
    ShortenedSlices slices(rows_);
    if (change.names_slices()) {
      TRACEDB_TRY(slices.Read(db_, names, change.rank, change.step, 1 - change.factor));
      if (slices.are_all_elsewhere() && !is_of_gpu) {
        TRACEDB_ASSIGN(captures, db_.Integer("SELECT count(*) FROM _capture"));
        // Of several another may be meant: in this one it gains 0.
        if (captures == 1) return NothingWaits(change.name + change.like + change.glob);
      }
    } else {
      slices.AddAll(change.rank, change.step, 1 - change.factor);
    }
    ScaleHost(slices, 0);
    return Done{};
  }

  // Where no node is for at least so long.
  void ScaleHost(ShortenedSlices& slices, int64_t least_ns) {
    slices.Merge();
    ForEachHost({}, [&](int64_t weight_ns, uint32_t from, uint32_t to, Interval range) {
      if (range.length() < least_ns) return weight_ns;
      const double all = slices.Saved(graph_.ThreadOf(from), graph_.ThreadOf(to), range);
      const double saved = std::clamp(std::round(all), -1e18, 1e18);
      return std::clamp<int64_t>(weight_ns - static_cast<int64_t>(saved), 0, kMostWeightNs);
    });
  }

  Status ScaleHeld(const Change& change) {
    Change named;
    named.name = change.held_by;
    ShortenedSlices slices(rows_);
    TRACEDB_ASSIGN(names, NamesOf(db_, named));
    TRACEDB_TRY(slices.ReadHeld(db_, owners_, names, change.rank, change.step, 1 - change.factor));
    ScaleHost(slices, kLongSliceNs);
    return Done{};
  }

  Status ScaleShortHost(const Change& change) {
    ForEachHost(change, [&](int64_t weight_ns, uint32_t, uint32_t, Interval range) {
      return range.length() < kLongSliceNs ? Scaled(weight_ns, *change.short_host) : weight_ns;
    });
    return Done{};
  }

  Status ScaleRecorder(const Change& change) {
    for (uint32_t node = 0; node < graph_.nodes().size(); ++node) {
      if (graph_.nodes()[node].kind != NodeKind::kHoldEnd) continue;
      if (!IsOf(change, graph_.TraceOf(node))) continue;
      const uint32_t edge = graph_.first_edge(node);
      weights_.Set(edge, Scaled(weights_[edge], *change.recorder));
    }
    return Done{};
  }

  // Whether anything waits for them.
  Result<bool> Shorten(const std::vector<LateSlice>& late) {
    std::unordered_map<int64_t, int64_t> shorter;
    for (const LateSlice& slice : late) {
      if (slice.late_ns < 0) return NotUnderstood("shorten_ns: it cannot be negative");
      shorter[slice.slice_id] = slice.late_ns;
    }
    std::unordered_set<int64_t> found;
    const auto is_late = [&](const Activity& activity) {
      return shorter.contains(activity.slice_id);
    };
    ForEachRun(is_late, [&](const Activity& activity, int64_t weight_ns, EdgeKind) {
      const auto slice = shorter.find(activity.slice_id);
      found.insert(slice->first);
      const int64_t all_ns = DifferenceNs(activity.finish_ns, activity.start_ns);
      if (all_ns <= 0) return weight_ns;
      const double left_ns = static_cast<double>(DifferenceNs(all_ns, slice->second));
      return Scaled(weight_ns, std::max(0.0, left_ns / static_cast<double>(all_ns)));
    });
    ShortenedSlices slices(rows_);
    for (const auto& [slice, shorten_ns] : shorter) {
      if (!found.contains(slice)) TRACEDB_TRY(slices.ReadOne(db_, slice, shorten_ns));
    }
    if (found.size() < shorter.size()) ScaleHost(slices, 0);
    return !slices.are_all_elsewhere();
  }

  Status DropLateness(const std::set<int64_t>& ranks) {
    TRACEDB_ASSIGN(late, LatenessOf(db_, rows_, ranks, gpu_work_));
    TRACEDB_TRY(Shorten(late.slices));
    if (!late.late_in.empty()) {
      TRACEDB_TRY(host_work_.Even(db_, ranks, late.late_in, watch_, weights_));
    }
    if (!rows_.is_of_summaries) return EvenEnds(db_, graph_, ranks, late, watch_, weights_);
    return EvenOwnWork(db_, graph_, ranks, late, untold_, own_, watch_, weights_);
  }

  // That a framework calls in one way; "-": in any that is known; empty: none.
  Result<std::unordered_set<int64_t>> CalledBy(const std::string& caller) {
    std::unordered_set<int64_t> slices;
    if (caller.empty()) return slices;
    TRACEDB_ASSIGN(rows, db_.Prepare("SELECT slice_id FROM collective_callers WHERE caller = ?1 "
                                     "OR (?1 = '-' AND caller IS NOT NULL)"));
    TRACEDB_TRY(rows.Bind(1, caller));
    for (;;) {
      TRACEDB_ASSIGN(any, rows.Step());
      if (!any) return slices;
      slices.insert(rows.Int(0));
    }
  }

  // Messages from one rank to another: "2>3". Empty: none.
  Result<std::unordered_set<int64_t>> SentAlong(const std::string& pair) {
    std::unordered_set<int64_t> slices;
    if (pair.empty()) return slices;
    TRACEDB_ASSIGN(rows, db_.Prepare("SELECT id FROM _collective_part WHERE pair = ?1"));
    TRACEDB_TRY(rows.Bind(1, pair));
    for (;;) {
      TRACEDB_ASSIGN(any, rows.Step());
      if (!any && slices.empty()) {
        return NotUnderstood("pair: no message goes along '" + pair + "'; 2>3 is from rank 2 to 3");
      }
      if (!any) return slices;
      slices.insert(rows.Int(0));
    }
  }

  Result<std::unordered_set<int64_t>> GroupsOf(const std::string& parallelism) {
    std::unordered_set<int64_t> groups;
    TRACEDB_ASSIGN(rows, db_.Prepare("SELECT group_id FROM _process_group "
                                     "WHERE ?1 = 'all' OR ifnull(parallelism, 'other') = ?1"));
    TRACEDB_TRY(rows.Bind(1, parallelism));
    for (;;) {
      TRACEDB_ASSIGN(any, rows.Step());
      if (!any) return groups;
      groups.insert(rows.Int(0));
    }
  }

  Status ScaleTransfers(const Change& change) {
    TRACEDB_ASSIGN(groups, GroupsOf(change.transfers));
    TRACEDB_ASSIGN(called, CalledBy(change.caller));
    TRACEDB_ASSIGN(sent, SentAlong(change.pair));
    const auto is_meant = [&](const Activity& activity) {
      const bool is_transfer = activity.kind == GpuKind::kCommunication;
      if (!is_transfer || !IsOf(change, rows_.TraceOf(activity))) return false;
      if (!change.pair.empty() && !sent.contains(activity.slice_id)) return false;
      const bool is_called = called.contains(activity.slice_id);
      if (change.caller == "-" ? is_called : !change.caller.empty() && !is_called) return false;
      const bool is_other = change.transfers == "all" || change.transfers == "other";
      const int64_t group_id = rows_.PartOf(activity).group_id;
      return group_id != 0 ? groups.contains(group_id) : is_other;
    };
    ForEachRun(is_meant, [&](const Activity&, int64_t weight_ns, EdgeKind) {
      return Scaled(weight_ns, change.factor);
    });
    return Done{};
  }

  Status DropWaits(const Change& change) {
    if (change.waits == "sync") {
      DropSyncs(change);
      return Done{};
    }
    TRACEDB_ASSIGN(groups, GroupsOf(change.waits));
    const auto is_meant = [&](const Activity& activity) {
      return IsOf(change, rows_.TraceOf(activity)) &&
             groups.contains(rows_.PartOf(activity).group_id);
    };
    ForEachRun(is_meant, [](const Activity&, int64_t weight_ns, EdgeKind kind) {
      return kind == EdgeKind::kTransfer ? kNoEdge : weight_ns;
    });
    return Done{};
  }

  void DropSyncs(const Change& change) {
    for (uint32_t node = 0; node < graph_.nodes().size(); ++node) {
      if (graph_.nodes()[node].kind != NodeKind::kEnd) continue;
      if (!IsOf(change, graph_.TraceOf(node))) continue;
      for (uint32_t edge = graph_.first_edge(node); edge < graph_.end_edge(node); ++edge) {
        weights_.Set(edge, graph_.kind(edge) == EdgeKind::kSync ? kNoEdge : 0);
      }
    }
  }

  Status BoundLaunches(int64_t most_ns) {
    if (most_ns < 0) return NotUnderstood("launch_latency_ns: it cannot be negative");
    for (uint32_t edge = 0; edge < weights_.size(); ++edge) {
      if (graph_.kind(edge) == EdgeKind::kLaunch) {
        weights_.Set(edge, std::min(weights_[edge], most_ns));
      }
    }
    return Done{};
  }

  Status Balance(const Change& change) {
    TRACEDB_ASSIGN(factors, BalanceFactors(db_, rows_, change.balance));
    const auto computes = [](const Activity& activity) {
      return activity.kind == GpuKind::kCompute;
    };
    ForEachRun(computes, [&](const Activity& activity, int64_t weight_ns, EdgeKind) {
      const auto factor =
          factors.find({rows_.StepOf(activity), rows_.traces[rows_.TraceOf(activity)].rank});
      return factor != factors.end() ? Scaled(weight_ns, factor->second) : weight_ns;
    });
    return Done{};
  }

  SqliteDb& db_;
  StopWatch watch_;
  const ReplayGraph& graph_;
  const JobRows& rows_;
  IdealWeights& ideal_;
  HostWork& host_work_;
  GpuWork& gpu_work_;
  OwnTimes& own_;
  HostOwners& owners_;
  EdgeTimes& weights_;
  Untold untold_ = Untold::kIsError;
};

}  // namespace

Status ChangeWeights(SqliteDb& db, const ReplayGraph& graph, PeersOfGraph& peers,
                     HostOwners& owners, const std::vector<Change>& changes, EdgeTimes& weights) {
  Weights changed(db, graph, peers, owners, weights);
  TRACEDB_TRY(changed.ApplyAll(changes));
  return changed.status();
}

}  // namespace tracedb
