#include "report/report_sections.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace tracedb {
namespace {

// Numbers that share the page: 64 ranks of four streams each stay below 2 MB with all else.
constexpr int64_t kTimelineRows = 18'000;
constexpr int64_t kSliceRows = 170'000;
constexpr int64_t kMemoryRows = 7'000;
constexpr int64_t kStreamsMax = 400;
constexpr int64_t kWaitRows = 8000;

constexpr auto kSections = std::to_array<ReportSection>({
    {"overview", "time_partition", "Where the time goes", "overview", "", 2000, ""},
    {"overview", "overlap", "Where the time goes", "overview", "", 2000, "time_partition"},
    {"headline", "report/headline", "At a glance", "headline", "", 10, ""},
    {"", "report/recorded", "", "", "", 1, ""},
    {"", "report/path_line", "", "", "", 12'000, "", 400'000},
    {"", "report/rank_grid", "", "", "", 20'000, "", 250'000},
    {"", "report/link_speed", "", "", "", 20, ""},
    {"recommendations", "recommendations", "What to do first", "advice",
     "The largest problems in the data, each with its evidence and what solving it would gain: by "
     "a replay of the job without the cause.",
     20, ""},
    {"timeline", "report/slices", "Timeline", "timeline",
     "What ran on each GPU's streams and each host's threads. Click a kernel for the call that "
     "launched it and for its partners in a collective.",
     kSliceRows, "", 3'100'000},
    {"", "report/lanes", "", "", "", 20'000, "", 300'000},
    {"", "report/launch_links", "", "", "", 60'000, "", 500'000},
    {"", "report/collective_links", "", "", "", 40'000, "", 300'000},
    {"", "report/timeline", "", "", "", 2 * kTimelineRows, "", 700'000},
    {"partition", "time_partition", "Where each GPU's time goes, in all", "partition",
     "Each bar is one GPU's time from its first activity to its last. Only computing moves the "
     "training on; exposed communication and idle time are what could be saved.",
     2000, ""},
    {"partition", "overlap", "Where each GPU's time goes, in all", "partition",
     "Each bar is one GPU's time from its first activity to its last. Only computing moves the "
     "training on; exposed communication and idle time are what could be saved.",
     2000, "time_partition"},
    {"runs", "report/run_parts", "The runs of this database side by side", "runs",
     "All else on this page is of one run.", 12, ""},
    {"path", "critical_path_by", "What each step waited for", "path",
     "A step is over when its last rank is. What that waited for, and what this waited for before, "
     "is one chain over all ranks: only what is on it can make the step shorter.",
     1500, "", 120'000},
    {"late", "report/late_ranks", "Who came late, and what held it up", "table", "", 40, ""},
    {"stall_ranks", "nccl_stall_ranks", "Waits by rank", "waits",
     "Caused: the others waited for it. Root: the chain of waits begins at it. Suffered: it waited "
     "itself.",
     2000, ""},
    {"stalls", "report/root_waits", "Who waits for whom", "matrix",
     "By the rank at which the chain of waits begins, not the one that happened to start last.",
     9000, "", 300'000},
    {"stall_roots", "nccl_stall_roots", "Where waits begin", "table",
     "What held up the rank at which the chain of waits begins.", 20, ""},
    {"steps", "step_times", "How long each step took", "steps",
     "A line is a rank. All ranks slow in one step: the job waits together; one rank slow: it is "
     "the straggler.",
     6000, ""},
    {"step_spread", "report/step_spread", "How step times are spread, and how they drift",
     "step_spread", "", 200, ""},
    {"straggler_steps", "straggler_steps", "Who held up each step", "table", "", 200, ""},
    {"overlap", "overlap", "Is communication hidden behind computation", "overlap",
     "Communication that runs while something is computed costs nothing; the rest is exposed.",
     2000, ""},
    {"heat", "report/stream_heat", "How busy each stream is, over time", "heat",
     "A line is a stream of a GPU, from left to right in time. The stronger the colour, the more "
     "of the time something ran on it.",
     kStreamsMax, "", 280'000},
    {"kernels", "kernels_top", "Which kernels take the time", "top_kernels",
     "Sums of durations over all ranks.", 25, ""},
    {"roofline", "roofline", "How near operators come to what the GPU can do", "roofline",
     "Far below the lines: small work, or a kernel that could be better.", 200, ""},
    {"ncu_overlay", "ncu_overlay", "What kernels move to and from memory", "ncu_overlay",
     "As Nsight Compute measured it, kernel by kernel.", 16'000, "", 400'000},
    {"ncu_roofline", "ncu_roofline", "How near kernels come to the roof", "ncu_roofline",
     "As Nsight Compute measured them, replayed alone.", 2000, "", 200'000},
    {"flame", "report/call_tree", "What the GPU time is spent in", "flame",
     "Each box is an operator, annotation, module or function of the host, below it what it "
     "called, "
     "and at the end kernels: a box is as wide as the GPU time of the kernels launched in it.",
     6000, "", 250'000, ShownWhere::kWithGpu},
    {"modules", "module_time", "Which modules take the time", "top_modules",
     "GPU time of what each module or function launched, forward and backward.", 300, "", 0,
     ShownWhere::kWithGpu},
    {"ops", "ops_top", "Which operators take the host's time", "table",
     "The most own time of the host first: in the operator, and in none that it calls.", 20, "", 0,
     ShownWhere::kWithoutGpu},
    {"modules", "module_time", "Which modules take the host's time", "table",
     "The most own time of the host first, of modules and of Python functions.", 20, "", 0,
     ShownWhere::kWithoutGpu},
    {"annotations", "annotations", "Time of the host by annotation", "table",
     "What the job or PyTorch gave a name: stretches of its code, all calls together.", 20, "", 0,
     ShownWhere::kWithoutGpu},
    {"bandwidth", "nccl_bandwidth", "How fast collectives are, by size", "bandwidth",
     "Each point is a kind of collective of one size in one group, at its median. Points far below "
     "others of their size are worth a look.",
     1500, ""},
    {"memory", "report/memory_line", "Memory over time", "memory",
     "What tensors hold on each device, least and most in each piece of time; the dashed line is "
     "what the allocator has reserved.",
     2 * kMemoryRows, "", 350'000},
    {"memory_at_peak", "report/memory_at_peak", "What was allocated when most memory was",
     "memory_at_peak", "", 40, ""},
    {"memory_kinds", "report/memory_kinds", "What memory was held for when most was",
     "memory_kinds", "", 20, ""},
    {"memory_peak", "memory_peak", "Largest use of memory", "table", "", 500, ""},
    {"gaps", "gpu_gaps", "Longest times in which a GPU ran nothing", "table", "", 20, ""},
    {"training", "report/training_curve", "Loss and iteration time", "training",
     "As the job's own log has them.", 4000, "", 150'000},
    {"log_steps", "log_vs_trace", "Profiled iterations in the log", "table",
     "Each beside the step that it is, with what profiling cost and how fast the GPUs ran then.",
     300, ""},
    {"gpu_clocks", "report/gpu_clock_line", "GPU clocks, power and temperature", "clocks",
     "As nvidia-smi and its like sampled them.", 6000, "", 250'000},
    {"traces", "info_traces", "The traces", "table", "", 500, ""},
});

bool IsShown(const ReportSection& section, const QueryDoc& doc, bool host_only) {
  if (section.shown == ShownWhere::kWithGpu) return !host_only;
  if (section.shown == ShownWhere::kWithoutGpu) return host_only;
  // The headline has the steps as well.
  return !host_only || doc.why_empty.empty() || section.chart == "headline";
}

}  // namespace

std::span<const ReportSection> ReportSections() { return kSections; }

std::vector<const ReportSection*> SectionsOf(const QueryCatalog& catalog, bool host_only) {
  std::vector<const ReportSection*> sections;
  for (const ReportSection& section : kSections) {
    const bool is_replaced =
        !section.instead_of.empty() && catalog.Find(section.instead_of) != nullptr;
    const QueryDoc* doc = catalog.Find(section.query);
    if (doc == nullptr || is_replaced || !IsShown(section, *doc, host_only)) continue;
    sections.push_back(&section);
  }
  return sections;
}

namespace {

bool IsExact(std::string_view query) {
  return query == "report/slices" || query == "report/lanes" || query == "report/launch_links" ||
         query == "report/collective_links";
}

Thinning ThinningByScale(std::string_view query, const ReportScale& scale) {
  if (IsExact(query)) {
    if (query != "report/lanes") return {scale.exact, scale.exact_note};
    return {};
  }
  const int64_t streams = std::clamp<int64_t>(scale.streams, 1, kStreamsMax);
  const std::string busiest =
      scale.streams > kStreamsMax
          ? fmt::format(" Of {} streams, the {} busiest.", scale.streams, kStreamsMax)
          : "";
  if (query == "report/stream_heat") {
    constexpr int64_t kBins = 160;
    return {{fmt::format("bins={}", kBins), fmt::format("streams={}", kStreamsMax)},
            fmt::format("The time is cut into {} equal pieces.{}", kBins, busiest)};
  }
  if (query == "report/timeline") {
    const int64_t pieces = std::clamp<int64_t>(kTimelineRows / streams, 40, 8000);
    return {{fmt::format("per_stream={}", pieces), fmt::format("streams={}", kStreamsMax)},
            fmt::format("Streams with more than {0} activities are thinned: those of one kind that "
                        "start in the same of {0} equal pieces of its time are drawn as one, paler "
                        "the less of it they fill.{1}",
                        pieces, busiest)};
  }
  // Functions may be in front of all modules, which the chart is of when there are any.
  if (query == "module_time") return {{"limit=300"}, "", false};
  if (query == "report/call_tree") {
    if (!scale.focus.has_value()) return {{"limit=2000"}, ""};
    return {
        {fmt::format("rank={}", *scale.focus), "limit=2000"},
        fmt::format("Of rank {}; the 2,000 longest sums of a kernel in a place.", *scale.focus)};
  }
  if (query == "report/root_waits") {
    const int64_t roots = std::clamp<int64_t>(kWaitRows / std::max<int64_t>(scale.ranks, 1), 4, 64);
    const bool is_some = scale.ranks > roots;
    return {{fmt::format("roots={}", roots)},
            is_some ? fmt::format("The {} ranks at which the longest waits begin.", roots) : ""};
  }
  if (query == "roofline") return {{"limit=60"}, "The 60 that take the most GPU time."};
  if (query == "critical_path_by") {
    Thinning paths{{"limit=8"}, "Of each step the eight largest shares."};
    if (scale.path_steps.empty()) return paths;
    paths.params.push_back(scale.path_steps);
    paths.note += " " + scale.path_note;
    return paths;
  }
  if (query == "time_partition") return {{}, "Sums over the steps, of each GPU.", true};
  if (query == "report/memory_line") {
    const int64_t ranks = std::max<int64_t>(scale.ranks, 1);
    const int64_t pieces = std::clamp<int64_t>(kMemoryRows / ranks, 20, 300);
    return {{fmt::format("bins={}", pieces)},
            fmt::format("The time is cut into {} equal pieces, of which the least and the most are "
                        "kept.",
                        pieces)};
  }
  return {};
}

}  // namespace

bool IsNeeded(const ReportSection& section, const ReportScale& scale) {
  // Thinned rows stand in for what is not there exactly.
  return section.query != "report/timeline" || !scale.exact_note.empty();
}

Thinning ThinningOf(const QueryDoc& doc, const ReportScale& scale) {
  Thinning thinning = ThinningByScale(doc.name, scale);
  const std::vector<std::string> params = ParamsOf(doc, scale.run);
  thinning.params.insert(thinning.params.end(), params.begin(), params.end());
  const std::optional<int64_t> capture = CaptureOf(doc.name, scale.run);
  if (capture.has_value() && !scale.run.capture.has_value()) {
    if (!thinning.note.empty()) thinning.note += ' ';
    thinning.note += fmt::format("Capture {} of {}.", *capture, scale.run.captures);
  }
  return thinning;
}

}  // namespace tracedb
