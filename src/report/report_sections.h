// What is on the page, in its order: a row for each part, with the query that it shows.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "report/shown_run.h"
#include "tracedb/query/doc/query_catalog.h"

namespace tracedb {

// A database without any GPU activity has parts of the host instead of those of GPUs.
enum class ShownWhere { kEverywhere, kWithGpu, kWithoutGpu };

struct ReportSection {
  std::string_view id;     // the part's anchor on the page; empty: data of other parts' charts
  std::string_view query;  // where the catalog has none, the part is left out
  std::string_view title;
  std::string_view chart;       // which function of the page's script draws it
  std::string_view about;       // how to read it, in a sentence or two
  int64_t rows_max;             // kept; how many there are is on the page
  std::string_view instead_of;  // only on the page where the catalog has no such query
  size_t bytes_max = 0;         // of its rows; 0: its share of what all such parts have together
  ShownWhere shown = ShownWhere::kEverywhere;
};

std::span<const ReportSection> ReportSections();

// Those that this catalog has the queries for. `host_only`: no GPU activity is in the database, so
// parts whose query can only be of such (its header has why_empty) are left out.
std::vector<const ReportSection*> SectionsOf(const QueryCatalog& catalog, bool host_only = false);

// How large the database is, as far as charts grow with it.
struct ReportScale {
  ShownRun run;
  int64_t ranks = 0;
  int64_t streams = 0;
  bool host_only = false;          // there are traces, and no GPU activity in them
  bool is_gathered = false;        // from summaries
  std::vector<std::string> exact;  // parameters of what the timeline has exactly: rank, from_ms ...
  std::optional<int64_t> focus;    // the rank at fault, or that was asked for; none: no rank
  std::string exact_note;          // for the reader; empty: of everything
  std::string path_steps;          // parameter of critical_path_by; empty: all steps
  std::string path_note;           // for the reader
};

// Whether its rows are needed beside those of the others.
bool IsNeeded(const ReportSection& section, const ReportScale& scale);

// Of which run and capture a query is, and how finely it cuts the time, so that the page keeps its
// size; empty for most.
struct Thinning {
  std::vector<std::string> params;  // "key=value"
  std::string note;                 // for the reader
  bool sums_steps = false;          // of each device the sums are shown (StepSums)
};
Thinning ThinningOf(const QueryDoc& doc, const ReportScale& scale);

}  // namespace tracedb
