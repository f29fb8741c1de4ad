#include "tracedb/extension/interval_functions.h"

#ifdef TRACEDB_LOADABLE
#include <sqlite3ext.h>
SQLITE_EXTENSION_INIT1
#else
#include <sqlite3.h>
#endif

#include <algorithm>
#include <cstdint>
#include <limits>
#include <new>
#include <utility>
#include <vector>

#include "tracedb/base/interval.h"
#include "tracedb/base/safe_sum.h"
#include "tracedb/extension/cost_functions.h"

namespace tracedb {
namespace {

// Intervals merged as they come, as far as they come in order.
class IntervalSet {
 public:
  void Add(int64_t start, int64_t end) {
    if (!merged_.empty() && start < merged_.back().start_ns) {
      late_.push_back({start, end});
    } else if (!merged_.empty() && start <= merged_.back().end_ns) {
      merged_.back().end_ns = std::max(merged_.back().end_ns, end);
    } else {
      merged_.push_back({start, end});
    }
  }

  // Disjoint, in order.
  const std::vector<Interval>& Merged() {
    if (late_.empty()) return merged_;
    std::vector<Interval> all = std::move(merged_);
    all.insert(all.end(), late_.begin(), late_.end());
    std::sort(all.begin(), all.end(),
              [](const Interval& a, const Interval& b) { return a.start_ns < b.start_ns; });
    merged_.clear();
    late_.clear();
    for (const Interval& interval : all) Add(interval.start_ns, interval.end_ns);
    return merged_;
  }

 private:
  std::vector<Interval> merged_;
  std::vector<Interval> late_;
};

struct Sides {
  IntervalSet side[2];
};

// The aggregate's state, made at its first row; null when there is no memory, or no row.
Sides* StateOf(sqlite3_context* context, bool make) {
  auto** state = static_cast<Sides**>(
      sqlite3_aggregate_context(context, make ? static_cast<int>(sizeof(Sides*)) : 0));
  if (state == nullptr) return nullptr;
  if (*state == nullptr && make) *state = new (std::nothrow) Sides;
  return *state;
}

void Step(sqlite3_context* context, int count, sqlite3_value** values) {
  if (sqlite3_value_type(values[0]) == SQLITE_NULL ||
      sqlite3_value_type(values[1]) == SQLITE_NULL) {
    return;
  }
  const int64_t start = sqlite3_value_int64(values[0]);
  const int64_t length = sqlite3_value_int64(values[1]);
  int64_t end;
  if (length < 0 || __builtin_add_overflow(start, length, &end)) return;
  Sides* state = StateOf(context, true);
  if (state == nullptr) return sqlite3_result_error_nomem(context);
  try {
    state->side[count > 2 && sqlite3_value_int(values[2]) != 0 ? 1 : 0].Add(start, end);
  } catch (const std::bad_alloc&) {
    sqlite3_result_error_nomem(context);
  }
}

int64_t Length(const std::vector<Interval>& intervals) {
  int64_t length = 0;
  for (const Interval& interval : intervals) length += interval.length();
  return length;
}

int64_t Overlap(const std::vector<Interval>& a, const std::vector<Interval>& b) {
  int64_t length = 0;
  for (size_t i = 0, j = 0; i < a.size() && j < b.size();) {
    length += std::max<int64_t>(0, a[i].Intersection(b[j]).length());
    a[i].end_ns < b[j].end_ns ? ++i : ++j;
  }
  return length;
}

template <bool overlap>
void Final(sqlite3_context* context) {
  Sides* state = StateOf(context, false);
  if (state == nullptr) return sqlite3_result_int64(context, 0);
  try {
    const auto& first = state->side[0].Merged();
    sqlite3_result_int64(context,
                         overlap ? Overlap(first, state->side[1].Merged()) : Length(first));
  } catch (const std::bad_alloc&) {
    sqlite3_result_error_nomem(context);
  }
  delete state;
}

}  // namespace

int RegisterIntervalFunctions(sqlite3* db) {
  constexpr int kFlags = SQLITE_UTF8 | SQLITE_DETERMINISTIC | SQLITE_INNOCUOUS;
  const int code = sqlite3_create_function_v2(db, "busy_ns", 2, kFlags, nullptr, nullptr, Step,
                                              Final<false>, nullptr);
  if (code != SQLITE_OK) return code;
  return sqlite3_create_function_v2(db, "overlap_ns", 3, kFlags, nullptr, nullptr, Step,
                                    Final<true>, nullptr);
}

}  // namespace tracedb

#ifdef TRACEDB_LOADABLE
// The name that SQLite derives from the file's: tracedb.so.
extern "C" int sqlite3_tracedb_init(sqlite3* db, char** error, const sqlite3_api_routines* api) {
  (void)error;
  SQLITE_EXTENSION_INIT2(api);
  int code = tracedb::RegisterSafeSum(db);
  if (code == SQLITE_OK) code = tracedb::RegisterIntervalFunctions(db);
  return code == SQLITE_OK ? tracedb::RegisterCostFunctions(db) : code;
}
#endif
