#include "ranks/runs/run_rules.h"

#include <algorithm>
#include <map>
#include <set>
#include <string_view>
#include <utility>

namespace tracedb {
namespace {

using Traces = std::vector<const RecordedTrace*>;

struct FoundRun {
  std::string path;
  Traces traces;
};

// The folder of `trace` that a run may be as large as: the outermost that was given to ingest.
std::string RootOf(const RecordedTrace& trace, const std::set<std::string>& given) {
  for (const std::string& folder : given) {  // an outer one comes before those below it
    if (IsWithinFolder(trace.folder, folder)) return folder;
  }
  return trace.folder;
}

// The folder right below `folder` on the way to a trace; `folder` for those that are in it.
std::string NextBelow(const std::string& folder, const RecordedTrace& trace) {
  if (trace.folder.size() == folder.size()) return folder;
  const size_t name = folder == "/" ? 1 : folder.size() + 1;
  return trace.folder.substr(0, trace.folder.find('/', name));
}

void SplitFolder(const std::string& folder, const Traces& traces, std::vector<FoundRun>& runs) {
  std::map<std::string, Traces> parts;
  for (const RecordedTrace* trace : traces) parts[NextBelow(folder, *trace)].push_back(trace);
  std::map<int64_t, const std::string*> part_of_rank;
  bool is_again = false;
  for (const auto& [path, part] : parts) {
    for (const RecordedTrace* trace : part) {
      const auto [at, is_new] = part_of_rank.emplace(trace->rank, &path);
      is_again = is_again || (!is_new && at->second != &path);
    }
  }
  const bool is_on_the_way = parts.size() == 1 && parts.begin()->first != folder;
  if (is_on_the_way) {
    std::vector<FoundRun> below;
    SplitFolder(parts.begin()->first, traces, below);
    if (below.size() == 1) below.front().path = folder;
    runs.insert(runs.end(), below.begin(), below.end());
    return;
  }
  if (!is_again) {
    runs.push_back({folder, traces});
    return;
  }
  for (const auto& [path, part] : parts) {
    if (path == folder) {
      runs.push_back({folder, part});
    } else {
      SplitFolder(path, part, runs);
    }
  }
}

std::vector<FoundRun> RunsOfFolders(const Traces& traces) {
  std::set<std::string> given;
  for (const RecordedTrace* trace : traces) {
    if (trace->input_folder.has_value()) given.insert(*trace->input_folder);
  }
  std::map<std::string, Traces> by_root;
  for (const RecordedTrace* trace : traces) by_root[RootOf(*trace, given)].push_back(trace);
  std::vector<FoundRun> runs;
  for (const auto& [root, below] : by_root) SplitFolder(root, below, runs);
  return runs;
}

// The last `pieces` pieces of a path; all of it where it has fewer.
std::string EndOf(const std::string& path, size_t pieces) {
  size_t at = path.size();
  for (; pieces > 0 && at != std::string::npos && at > 0; --pieces) at = path.rfind('/', at - 1);
  if (at == std::string::npos || path.size() == 1) return path;
  return pieces > 0 ? path : path.substr(at + 1);
}

std::vector<std::string> NamesOf(const std::vector<FoundRun>& runs) {
  std::vector<std::string> names(runs.size());
  std::vector<size_t> pieces(runs.size(), 1);
  for (bool is_changed = true; is_changed;) {
    is_changed = false;
    std::map<std::string, int> count;
    for (size_t i = 0; i < runs.size(); ++i) ++count[names[i] = EndOf(runs[i].path, pieces[i])];
    for (size_t i = 0; i < runs.size(); ++i) {
      if (count[names[i]] < 2 || names[i] == runs[i].path) continue;
      ++pieces[i];
      is_changed = true;
    }
  }
  return names;
}

struct FoundCapture {
  Traces traces;
  std::set<int64_t> ranks;
  std::optional<int64_t> start_ns, end_ns;
};

// How long two stretches are together; negative: they are apart.
double Together(const FoundCapture& capture, const RecordedTrace& trace) {
  if (!capture.start_ns.has_value() || !trace.start_ns.has_value()) return 0;
  // As doubles: hostile times may be anything.
  const double begin = static_cast<double>(std::max(*capture.start_ns, *trace.start_ns));
  const double end = static_cast<double>(
      std::min(capture.end_ns.value_or(*capture.start_ns), trace.end_ns.value_or(*trace.start_ns)));
  return end - begin;
}

std::vector<FoundCapture> CapturesOf(Traces traces) {
  std::stable_sort(traces.begin(), traces.end(),
                   [](const RecordedTrace* a, const RecordedTrace* b) {
                     if (a->start_ns != b->start_ns) return a->start_ns < b->start_ns;
                     return a->trace_id < b->trace_id;
                   });
  std::vector<FoundCapture> captures;
  for (const RecordedTrace* trace : traces) {
    FoundCapture* best = nullptr;
    for (FoundCapture& capture : captures) {
      if (capture.ranks.contains(trace->rank) || Together(capture, *trace) < 0) continue;
      if (best == nullptr || Together(capture, *trace) > Together(*best, *trace)) best = &capture;
    }
    if (best == nullptr) best = &captures.emplace_back();
    best->traces.push_back(trace);
    best->ranks.insert(trace->rank);
    if (!best->start_ns.has_value()) best->start_ns = trace->start_ns;
    if (trace->end_ns.has_value()) {
      best->end_ns = std::max(best->end_ns.value_or(*trace->end_ns), *trace->end_ns);
    }
  }
  return captures;
}

int64_t LowestId(const Traces& traces) {
  const auto lowest =
      std::min_element(traces.begin(), traces.end(),
                       [](const auto* a, const auto* b) { return a->trace_id < b->trace_id; });
  return (*lowest)->trace_id;
}

void AddRun(std::string name, const FoundRun& found, RunsAndCaptures& all) {
  Run run{LowestId(found.traces), std::move(name), found.path, {}};
  int64_t number = 0;
  for (const FoundCapture& capture : CapturesOf(found.traces)) {
    const int64_t capture_id = LowestId(capture.traces);
    all.captures.push_back({capture_id, run.run_id, ++number});
    for (const RecordedTrace* trace : capture.traces) {
      all.places.push_back({trace->trace_id, run.run_id, capture_id});
      if (!trace->start_ns.has_value()) continue;
      run.start_ns = std::min(run.start_ns.value_or(*trace->start_ns), *trace->start_ns);
    }
  }
  all.runs.push_back(std::move(run));
}

}  // namespace

bool IsWithinFolder(std::string_view folder, std::string_view outer) {
  if (outer == "/") return true;
  return folder.starts_with(outer) &&
         (folder.size() == outer.size() || folder[outer.size()] == '/');
}

RunsAndCaptures SortIntoRuns(const std::vector<RecordedTrace>& traces) {
  Traces of_folders;
  Traces named;
  for (const RecordedTrace& trace : traces) {
    (trace.named_run.has_value() ? named : of_folders).push_back(&trace);
  }
  std::vector<FoundRun> runs = RunsOfFolders(of_folders);
  std::vector<std::string> names = NamesOf(runs);
  for (const RecordedTrace* trace : named) {
    const auto at = std::find(names.begin(), names.end(), *trace->named_run);
    if (at != names.end()) {
      runs[static_cast<size_t>(at - names.begin())].traces.push_back(trace);
      continue;
    }
    names.push_back(*trace->named_run);
    runs.push_back({trace->input_folder.value_or(trace->folder), {trace}});
  }
  RunsAndCaptures all;
  for (size_t i = 0; i < runs.size(); ++i) AddRun(names[i], runs[i], all);
  return all;
}

}  // namespace tracedb
