// A place in the program is the operators and modules around a launch, from the outermost on:
// "nn.Module: MLP_0 > LinearFunction > aten::mm". Annotations are none of it (they have numbers
// and dates in them), nor are functions of Python (their names have line numbers): with those, a
// changed program would have no place in common with the one before.
#include "compare/kernel_rows.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <limits>
#include <set>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>

#include "tracedb/query/run/gathered_notes.h"

namespace tracedb {
namespace {

constexpr size_t kPathBytesMax = 2048;  // of deeper ones the innermost
constexpr size_t kInstancesMax = 4;     // modules of one class that are told apart
constexpr size_t kGridsMax = 5000;      // kernels whose grid is looked up
constexpr std::string_view kBetween = " > ";

// "nn.Module: Linear_12": "nn.Module: Linear_".
std::string_view ClassOf(std::string_view module) {
  while (!module.empty() && module.back() >= '0' && module.back() <= '9') module.remove_suffix(1);
  return module;
}

// The tree of call_paths without what is no place; equal places of all ranks are one.
class Places {
 public:
  Status Read(const RunReader& reader) {
    std::vector<Raw> raws;
    std::map<std::string, std::set<std::string>, std::less<>> instances;
    TRACEDB_TRY(reader.Each("compare/paths", [&](const NamedRow& row) {
      const std::string_view kind = row.At("kind").text;
      Raw raw{row.Int("path_id"), row.Int("parent_id"), nullptr, kind == "operator"};
      if (raw.is_operator || kind == "module") {
        raw.name = &*names_.insert(row.Text("name")).first;
      }
      if (kind == "module") {
        auto& numbers = instances[std::string(ClassOf(*raw.name))];
        if (numbers.size() <= kInstancesMax) numbers.insert(*raw.name);
      }
      raws.push_back(raw);
    }));
    for (const Raw& raw : raws) {
      const auto parent = node_of_.find(raw.parent_id);
      const size_t above = parent == node_of_.end() ? kOutermost : parent->second;
      if (raw.name == nullptr) {
        node_of_[raw.path_id] = above;
        continue;
      }
      const std::string* name = raw.name;
      const auto many = raw.is_operator ? instances.end() : instances.find(ClassOf(*name));
      if (many != instances.end() && many->second.size() > kInstancesMax) {
        name = &*names_.insert(many->first + "*").first;
      }
      const auto [at, is_new] = nodes_by_.try_emplace({above, name}, nodes_.size());
      if (is_new) nodes_.push_back({above, name, raw.is_operator});
      node_of_[raw.path_id] = at->second;
    }
    return Done{};
  }

  size_t NodeOf(const NamedRow& row) const {
    if (row.IsNull("path_id")) return kOutermost;
    const auto at = node_of_.find(row.Int("path_id"));
    return at == node_of_.end() ? kOutermost : at->second;
  }

  // The outermost first.
  PlacePath Path(size_t node) const {
    PlacePath path;
    size_t bytes = 0;
    for (; node != kOutermost; node = nodes_[node].above) {
      const std::string& name = *nodes_[node].name;
      if (nodes_[node].is_operator && path.op.empty()) path.op = name;
      bytes += name.size();
      if (!path.pieces.empty() && bytes > kPathBytesMax) {
        path.pieces.emplace_back("...");
        break;
      }
      path.pieces.push_back(name);
    }
    std::reverse(path.pieces.begin(), path.pieces.end());
    return path;
  }

 private:
  static constexpr size_t kOutermost = std::numeric_limits<size_t>::max();
  struct Raw {
    int64_t path_id;
    int64_t parent_id;
    const std::string* name;  // nullptr: no place
    bool is_operator;
  };
  struct Node {
    size_t above;
    const std::string* name;
    bool is_operator;
  };
  std::set<std::string> names_;
  std::vector<Node> nodes_;
  std::map<std::pair<size_t, const std::string*>, size_t> nodes_by_;
  std::map<int64_t, size_t> node_of_;
};

std::string Joined(const std::vector<std::string>& pieces) {
  std::string text;
  for (const std::string& piece : pieces) {
    if (!text.empty()) text += kBetween;
    text += piece;
  }
  return text;
}

struct PlaceText {
  std::string text;
  std::string op;
};

// Where all of the time of a kind of activities is; of communication the kernel alone does not
// tell.
std::string PartOf(std::string_view kind) {
  return kind == "compute" ? "compute" : kind == "memory" ? "exposed_memory" : "";
}

// An operator may fill memory before it computes: the part with nine tenths of its time.
std::string MostOf(const std::map<std::string, double>& by_part) {
  constexpr double kShareMin = 0.9;
  double sum = 0;
  for (const auto& [part, ns] : by_part) sum += ns;
  for (const auto& [part, ns] : by_part) {
    if (ns >= kShareMin * sum) return part;
  }
  return "";
}

// By the order of their first activities in the usual step, where they are in it.
void SetNeighbours(RunSamples& samples) {
  std::vector<std::pair<int64_t, const RowKey*>> order;
  for (const auto& [key, place] : samples.kernel_places)
    order.emplace_back(place.first_slice, &key);
  std::sort(order.begin(), order.end());
  for (size_t i = 0; i < order.size(); ++i) {
    KernelPlace& place = samples.kernel_places[*order[i].second];
    place.order = i;
    if (i > 0) place.before = *order[i - 1].second;
    if (i + 1 < order.size()) place.after = *order[i + 1].second;
  }
}

Status ReadGrids(const RunReader& reader, RunSamples& samples) {
  std::map<int64_t, KernelPlace*> by_slice;
  std::string slices;
  for (auto& [key, place] : samples.kernel_places) {
    if (by_slice.size() == kGridsMax) break;
    by_slice[place.first_slice] = &place;
    slices += fmt::format("{}{}", slices.empty() ? "" : ",", place.first_slice);
  }
  return reader.With(fmt::format("slices=[{}]", slices))
      .Each("compare/kernel_grids", [&](const NamedRow& row) {
        const auto at = by_slice.find(row.Int("slice_id"));
        if (at != by_slice.end()) at->second->grid = row.Text("grid") + row.Text("block");
      });
}

Status ReadByPath(const RunReader& reader, const RunReader& plain,
                  const std::map<StepId, size_t>& places, RunSamples& samples) {
  Places tree;
  TRACEDB_TRY(tree.Read(plain));
  RowsOfSteps rows(places, samples);
  std::map<size_t, PlaceText> texts;
  std::vector<double> kernel_ns(places.size());
  std::map<RowKey, std::map<std::string, double>> op_ns;  // by part
  std::map<RowKey, bool> is_usual;                        // its first activity is of the usual step
  const size_t usual = samples.middle.empty() ? 0 : samples.middle[samples.middle.size() / 2];
  TRACEDB_TRY(reader.Each("compare/kernel_paths", [&](const NamedRow& row) {
    samples.has_paths = true;
    const size_t node = tree.NodeOf(row);
    const auto [at, is_new] = texts.try_emplace(node);
    if (is_new) {
      PlacePath path = tree.Path(node);
      at->second = {Joined(path.pieces), path.op};
      samples.paths[at->second.text] = std::move(path);
    }
    const PlaceText& where = at->second;
    const auto calls = static_cast<double>(row.Int("activities"));
    const auto ns = static_cast<double>(row.Ns("gpu_ms"));
    RowKey key{"kernel", row.Text("kernel"), where.text};
    size_t place = 0;
    RowSeries* series = rows.At(row, key, place);
    if (series == nullptr) return;
    series->calls[place] += calls;
    series->ns[place] += ns;
    if (row.At("kind").text != "memory") kernel_ns[place] += ns;
    samples.parts.try_emplace(key, PartOf(row.At("kind").text));
    const auto [known, is_first] = samples.kernel_places.try_emplace(key);
    bool& was_usual = is_usual[std::move(key)];
    if (is_first || (place == usual && !was_usual)) {
      known->second.first_slice = row.Int("first_slice_id");
      was_usual = place == usual;
    }
    if (where.op.empty()) return;
    RowKey op_key{std::string(kGpuRow), where.op, where.text};
    RowSeries* of_operator = rows.At(row, op_key, place);
    op_ns[std::move(op_key)][PartOf(row.At("kind").text)] += ns;
    of_operator->calls[place] += calls;
    of_operator->ns[place] += ns;
  }));
  if (!samples.has_paths) return Done{};
  samples.kernel_ns = std::move(kernel_ns);
  for (const auto& [key, by_part] : op_ns) samples.parts[key] = MostOf(by_part);
  SetNeighbours(samples);
  return ReadGrids(plain, samples);
}

// Rows whose places become one are added up.
void Replace(RunSamples& run,
             const std::function<std::vector<std::string>(const PlacePath&)>& pieces_of) {
  std::map<std::string, std::string> now;
  std::map<std::string, PlacePath> paths;
  for (const auto& [text, path] : run.paths) {
    std::vector<std::string> pieces = pieces_of(path);
    now[text] = Joined(pieces);
    paths[now[text]] = {std::move(pieces), path.op};
  }
  const auto moved = [&now](RowKey key) {
    const auto at = now.find(key.where);
    if (at != now.end()) key.where = at->second;
    return key;
  };
  std::map<RowKey, RowSeries> rows;
  for (auto& [key, series] : run.rows) {
    const auto [at, is_new] = rows.try_emplace(moved(key));
    if (is_new) {
      at->second = std::move(series);
      continue;
    }
    for (size_t i = 0; i < series.ns.size(); ++i) {
      at->second.ns[i] += series.ns[i];
      at->second.calls[i] += series.calls[i];
    }
  }
  std::map<RowKey, KernelPlace> places;
  for (auto& [key, place] : run.kernel_places) {
    place.before = moved(place.before);
    place.after = moved(place.after);
    const auto [at, is_new] = places.try_emplace(moved(key), place);
    if (!is_new && place.order < at->second.order) at->second = place;
  }
  std::map<RowKey, std::string> parts;
  for (auto& [key, part] : run.parts) {
    const auto [at, is_new] = parts.try_emplace(moved(key), part);
    if (at->second != part) at->second.clear();
  }
  run.parts = std::move(parts);
  run.rows = std::move(rows);
  run.kernel_places = std::move(places);
  run.paths = std::move(paths);
}

std::set<std::string> PiecesOf(const std::vector<RunSamples>& side) {
  std::set<std::string> pieces;
  for (const RunSamples& run : side) {
    for (const auto& [text, path] : run.paths)
      pieces.insert(path.pieces.begin(), path.pieces.end());
  }
  return pieces;
}

}  // namespace

Status ReadKernelRows(const RunReader& reader, const RunReader& plain,
                      const std::map<StepId, size_t>& places, RunSamples& samples) {
  TRACEDB_ASSIGN(gathered, IsGathered(reader.db));
  if (!gathered) TRACEDB_TRY(ReadByPath(reader, plain, places, samples));
  if (samples.has_paths) return Done{};
  RowsOfSteps rows(places, samples);
  return reader.Each("compare/kernels", [&](const NamedRow& row) {
    size_t place = 0;
    RowSeries* series = rows.At(row, {"kernel", row.Text("kernel"), row.Text("op")}, place);
    if (series == nullptr) return;
    series->calls[place] += static_cast<double>(row.Int("activities"));
    series->ns[place] += static_cast<double>(row.Ns("gpu_ms"));
  });
}

void AlignPlaces(std::vector<RunSamples>& base, std::vector<RunSamples>& now) {
  const auto has_paths = [](const RunSamples& run) { return run.has_paths; };
  if (!std::all_of(base.begin(), base.end(), has_paths) ||
      !std::all_of(now.begin(), now.end(), has_paths)) {
    const auto innermost = [](const PlacePath& path) {
      return path.op.empty() ? std::vector<std::string>() : std::vector<std::string>{path.op};
    };
    for (std::vector<RunSamples>* side : {&base, &now}) {
      for (RunSamples& run : *side) {
        if (!run.has_paths) continue;
        Replace(run, innermost);
        std::erase_if(run.rows, [](const auto& row) { return row.first.kind == kGpuRow; });
        run.has_paths = false;
      }
    }
    return;
  }
  const std::set<std::string> of_base = PiecesOf(base);
  const std::set<std::string> of_now = PiecesOf(now);
  if (of_base == of_now) return;
  const auto common = [&](const PlacePath& path) {
    std::vector<std::string> pieces;
    for (const std::string& piece : path.pieces) {
      const bool is_common = of_base.contains(piece) && of_now.contains(piece);
      if (is_common || &piece == &path.pieces.back()) pieces.push_back(piece);
    }
    return pieces;
  };
  for (std::vector<RunSamples>* side : {&base, &now}) {
    for (RunSamples& run : *side) Replace(run, common);
  }
}

}  // namespace tracedb
