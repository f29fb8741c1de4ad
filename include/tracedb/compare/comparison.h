// What `tracedb compare` answers, which the writers of text, JSON, markdown and HTML share: two
// sides of one run or more, the step's change and whether it is more than noise, and where it
// comes from. All times are of one step: means over the ranks and over the middle half of the
// steady steps, by how long these took.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace tracedb {

enum class Verdict { kSlower, kFaster, kSame, kCannotTell };
std::string_view VerdictName(Verdict verdict);  // "slower", "faster", "same", "cannot tell"

// Into what a step is shared out without a rest: columns of time_partition.
inline constexpr std::array<std::string_view, 12> kStepParts = {
    "compute",        "exposed_tensor",  "exposed_pipeline", "exposed_data",
    "exposed_expert", "exposed_context", "exposed_other",    "exposed_memory",
    "idle_host",      "idle_sync",       "idle_dependency",  "idle_other"};

struct Finding {  // of the step, of a part or of a row
  Verdict verdict = Verdict::kCannotTell;
  double p = 1;       // of a part or row: after Holm
  double low_ns = 0;  // where the change is with 95 %
  double high_ns = 0;
  std::optional<double> least_visible_ns;  // nothing: no change could have been seen
  std::string reason;                      // why it cannot be told; else empty
};

// A rank's place in the job, such as "tensor 1, stage 0, data 1"; "rank 3" where no group tells it.
struct RankRole {
  int64_t rank = 0;
  std::string role;
  std::optional<int64_t> other;  // who has it on the other side; nothing: nobody
};

// How long ranks wait in a step because of one: the mean over all of them.
struct RankChange {
  std::string role;
  std::optional<int64_t> base_rank;  // nothing: only in new
  std::optional<int64_t> new_rank;
  double base_ns = 0;
  double new_ns = 0;
  Finding finding;
};

struct PartChange {
  std::string name;
  int64_t base_ns = 0;
  int64_t new_ns = 0;
  Finding finding;
};

enum class RowIn { kBoth, kBase, kNew, kRenamed };
std::string_view RowInName(RowIn in);  // "both", "only in base", "only in new", "renamed"

// A row's kind: of the critical path, which a step of all ranks together has one of.
inline constexpr std::string_view kPathRow = "critical path";

// In what samples have what an operator's GPU activities took, by place; of the kind operator.
inline constexpr std::string_view kGpuRow = "operator on the GPU";

// A row's kind: a timer of the training log, where runs are compared by their logs.
inline constexpr std::string_view kTimerRow = "timer";

// What is alike on both sides, and how it changed.
struct RowChange {
  std::string kind;  // recomputation, annotation, operator, kernel, collective, host, kPathRow ...
  std::string name;
  std::string base_name;  // of a renamed kernel
  std::string path;       // where it was launched: operators and modules, the outermost first
  std::string base_path;  // where that was another
  std::string part;       // of the step, in which its time is; empty: in several, or not known
  std::string text;       // what is to be said of it; may be empty
  RowIn in = RowIn::kBoth;
  std::vector<RankRole> ranks;  // of annotations on one side only: where they are
  double base_calls = 0;        // of a step and rank
  double new_calls = 0;
  double base_ns = 0;
  double new_ns = 0;
  Finding finding;
};

// What ran on a GPU in a step of about the usual length.
struct StepLane {
  struct Stretch {
    int64_t start_ns = 0;
    int64_t dur_ns = 0;
    int64_t kinds = 0;  // sum of 1 compute, 2 communication, 4 memory
  };
  int64_t rank = 0;
  std::string device;
  int64_t span_ns = 0;
  std::vector<Stretch> stretches;
};

// An iteration of a training log; of many, the mean of some that follow each other.
struct LogPoint {
  double iteration = 0;
  std::optional<double> elapsed_ms;
  std::optional<double> loss;
};

// Facts with such names are arguments of a training log.
inline constexpr std::string_view kArgumentFact = "argument ";

// Facts of what was lost: traces that were cut short or damaged, and the largest share of a rank's
// launches whose GPU activities are not there.
inline constexpr std::string_view kIncompleteFact = "incomplete traces";
inline constexpr std::string_view kLostFact = "launches without GPU activity (%)";
// The largest share of a GPU's activities whose launch is not there: they are in no operator.
inline constexpr std::string_view kUnlaunchedFact = "GPU activities without launch (%)";

struct RunUsed {
  std::string name;  // as it was given
  std::string run;
  size_t ranks = 0;
  size_t steps = 0;         // whole ones, of all ranks
  size_t steady_first = 0;  // by place, from 0
  size_t steady_count = 0;  // 0: they grow or shrink
  bool is_whole = false;    // there are no steps: each capture counts as one
  bool is_log = false;      // steps are iterations of the training log; `ranks` is 0, no parts
  int64_t step_ns = 0;
  std::optional<int64_t> kernel_ns;          // of kernels in a step, of all GPUs together
  std::vector<int64_t> parts_ns;             // by kStepParts; their sum is step_ns
  std::map<std::string, std::string> facts;  // as compare/facts has them; what was lost
  std::set<std::string> deciding;            // those that runs must agree in to be compared
  // Its traces with events in them: content hash, path. Empty files are all alike.
  std::map<std::string, std::string> recordings;
  int64_t usual_step = 0;       // whose lanes these are, by its number
  std::vector<StepLane> lanes;  // where they were asked for
  std::vector<LogPoint> log;    // the same; in the order of iterations, at most 2000

  bool HasArguments() const {
    const auto at = facts.lower_bound(std::string(kArgumentFact));
    return at != facts.end() && at->first.starts_with(kArgumentFact);
  }
};

struct FactDifference {
  std::string fact;
  std::string base;  // of several runs that are not alike: each value, after a semicolon
  std::string now;
  bool decides = false;  // runs that differ in it are not comparable
};

struct ValueOfRuns {
  std::string value;
  std::vector<std::string> runs;  // those of a side that have it, by their names
};

// A fact in which the runs of a side, which are taken for alike, are not.
struct UnlikeRuns {
  bool in_new = false;
  std::string fact;
  std::vector<ValueOfRuns> values;
  bool decides = false;
};

struct Comparison {
  std::vector<RunUsed> base;
  std::vector<RunUsed> now;
  bool comparable = true;
  std::vector<FactDifference> differences;  // between the sides
  std::vector<UnlikeRuns> unlike;           // within them
  bool between_runs = false;                // the unit is a run; else a step of one run a side
  int64_t base_ns = 0;                      // of the step
  int64_t new_ns = 0;
  double effect_min = 0.01;
  Finding finding;                // of the step
  std::vector<PartChange> parts;  // their changes add up to the step's, to the nanosecond
  std::vector<RowChange> rows;    // the most telling first
  size_t rows_left_out = 0;       // changed by less than these
  std::vector<RankChange> ranks;  // the most changed first
  bool by_role = false;           // ranks are aligned by their places in groups, else by number
  size_t ranks_moved = 0;         // roles that another rank has in new
  std::optional<int64_t> base_kernel_ns;  // means over the runs of a side
  std::optional<int64_t> new_kernel_ns;

  bool IsWhole() const { return !base.empty() && base.front().is_whole; }
  bool IsOfLogs() const { return !base.empty() && base.front().is_log; }

  double ChangePct() const;
};

}  // namespace tracedb
