#include "ranks/runs/source_rules.h"

#include <algorithm>
#include <string_view>

namespace tracedb {
namespace {

// The run, among the first `count`, whose folder is the innermost around `folder`.
const Run* RunAround(const std::vector<Run>& runs, size_t count, std::string_view folder) {
  const Run* best = nullptr;
  for (size_t i = 0; i < count; ++i) {
    if (!IsWithinFolder(folder, runs[i].path)) continue;
    if (best == nullptr || runs[i].path.size() > best->path.size()) best = &runs[i];
  }
  return best;
}

// How many runs were found in the same search as the source, in folders below its own or beside
// it; and one of them.
size_t RunsOfSearch(const std::vector<Run>& runs, size_t count, const RecordedSource& source,
                    const Run*& one) {
  size_t found = 0;
  for (size_t i = 0; i < count && source.input_folder.has_value(); ++i) {
    if (!IsWithinFolder(runs[i].path, *source.input_folder)) continue;
    ++found;
    one = &runs[i];
  }
  return found;
}

std::string LastPiece(const std::string& path) {
  const size_t at = path.rfind('/');
  return at == std::string::npos || path.size() == 1 ? path : path.substr(at + 1);
}

// Among the runs of sources alone; made where there is none.
int64_t OwnRun(const RecordedSource& source, std::vector<Run>& runs, size_t count) {
  const std::string path = source.input_folder.value_or(source.folder);
  const std::string name = source.named_run.value_or(LastPiece(path));
  for (size_t i = count; i < runs.size(); ++i) {
    if (source.named_run.has_value() ? runs[i].name == name : runs[i].path == path) {
      return runs[i].run_id;
    }
  }
  std::string free = name;
  const auto is_taken = [&](const Run& run) { return run.name == free; };
  if (!source.named_run.has_value() && std::any_of(runs.begin(), runs.end(), is_taken)) {
    free = path;  // two folders of one name
  }
  runs.push_back({-source.source_id, free, path, {}});
  return runs.back().run_id;
}

}  // namespace

std::vector<SourcePlace> SortSources(const std::vector<RecordedSource>& sources,
                                     std::vector<Run>& runs) {
  const size_t of_traces = runs.size();
  std::vector<SourcePlace> places;
  for (const RecordedSource& source : sources) {
    if (source.named_run.has_value()) {
      const auto at = std::find_if(runs.begin(), runs.end(),
                                   [&](const Run& run) { return run.name == *source.named_run; });
      places.push_back(
          {source.source_id, at != runs.end() ? at->run_id : OwnRun(source, runs, of_traces)});
      continue;
    }
    const Run* run = RunAround(runs, of_traces, source.folder);
    const size_t in_search = run == nullptr ? RunsOfSearch(runs, of_traces, source, run) : 1;
    if (in_search > 1) {
      places.push_back({source.source_id, std::nullopt});
    } else {
      places.push_back(
          {source.source_id, run != nullptr ? run->run_id : OwnRun(source, runs, of_traces)});
    }
  }
  return places;
}

}  // namespace tracedb
