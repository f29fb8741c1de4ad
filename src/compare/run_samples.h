// The numbers of one run that a comparison takes: what canned queries of queries/compare, and
// time_partition, say of each step.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "tracedb/base/result.h"
#include "tracedb/base/sqlite_db.h"
#include "tracedb/compare/comparison.h"
#include "tracedb/query/doc/query_catalog.h"

namespace tracedb {

struct RunReader;

// The same thing in every step: a kernel of an operator, a collective, an operator on the host.
struct RowKey {
  std::string kind;  // operator, annotation, module, call, kernel, collective, kGpuRow, kTimerRow
  std::string name;
  std::string where;  // of what runs on the GPU: where it was launched, see kernel_rows.h
  auto operator<=>(const RowKey&) const = default;
};

// The row of those of a kind that came when a run had very many: a program that gives each kernel a
// name of its own takes no more memory than others. What else of that kind is on one side alone may
// be within it on the other.
inline constexpr const char* kFurtherNames = "(further names)";

struct RowSeries {
  std::vector<double> ns;  // by step, all ranks together
  std::vector<double> calls;
  std::vector<double> gpu_ns;  // of operators: of what they launched
  std::set<int64_t> ranks;     // of what the host did
};

// How a kernel is known when it has another name.
struct KernelPlace {
  int64_t first_slice = 0;
  size_t order = 0;  // among all kernels, by their first activities
  RowKey before;     // its neighbours in that order
  RowKey after;
  std::string grid;  // and block; empty: not known
};

struct PlacePath {
  std::vector<std::string> pieces;  // the outermost first
  std::string op;                   // the innermost operator; empty: none
};

struct RunSamples {
  RunUsed used;
  // Of all ranks together, by step.
  std::array<std::vector<int64_t>, kStepParts.size()> parts_ns;
  std::vector<int64_t> steps_ns;
  std::vector<double> step_means;                     // of a rank
  std::vector<std::pair<int64_t, int64_t>> step_ids;  // capture and number
  size_t ranks = 0;                                   // GPUs that each step has a row of
  std::vector<size_t> middle;                         // steps that times are means of
  std::map<RowKey, RowSeries> rows;
  std::map<std::string, size_t> rows_of_kind;
  bool has_paths = false;
  std::map<RowKey, KernelPlace> kernel_places;
  std::map<RowKey, std::string> parts;     // of what is in one part of the step, by kStepParts
  std::map<std::string, PlacePath> paths;  // by their texts, as keys of rows have them
  std::vector<double> kernel_ns;           // of all GPUs, by step: kernels without copies and fills
  std::map<int64_t, std::string> roles;    // by rank
  bool has_places = false;                 // groups tell the roles
  // By rank and step: what all ranks together wait because of it.
  std::map<int64_t, std::vector<double>> caused_ns;
  std::set<std::string> in_backward;  // operators that run within the backward pass
  // Of facts that are numbers: those no further apart are alike.
  std::map<std::string, double> alike_pct;
};

// Each total by `count`, as whole numbers whose sum is `mean`, that of all totals: what rounding
// down leaves goes to those with the largest rests.
std::vector<int64_t> MeansThatAddUp(std::span<const int64_t> totals, int64_t count, int64_t mean);

// Sets the steady part of the steps, and which of them times are means of.
void SetMiddle(RunSamples& samples, double effect_min);

Status ReadFacts(const RunReader& reader, RunSamples& samples);

// `run`: a name in runs.
Result<RunSamples> ReadRun(SqliteDb& db, const QueryCatalog& catalog, const std::string& run,
                           double effect_min);

// What the critical paths of its steps consist of, into its rows. The run is replayed.
Status ReadPath(SqliteDb& db, const QueryCatalog& catalog, RunSamples& samples);

// Sets used.usual_step and used.lanes: of step `like` where the run has it, else of one of about
// the usual length.
Status ReadLanes(SqliteDb& db, const QueryCatalog& catalog, std::optional<int64_t> like,
                 RunSamples& samples);

}  // namespace tracedb
