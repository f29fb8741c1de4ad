#include "tracedb/base/safe_sum.h"

#ifdef TRACEDB_LOADABLE
#include <sqlite3ext.h>
SQLITE_EXTENSION_INIT3
#else
#include <sqlite3.h>
#endif

#include <cstdint>
#include <limits>

namespace tracedb {
namespace {

__extension__ using Wide = __int128;

// Zero, as SQLite hands it out, is an empty sum. SQLite aligns it for eight bytes, a Wide wants
// sixteen: so it is in halves.
struct Sum {
  uint64_t integers_low;
  int64_t integers_high;
  double reals;  // of all values: the sum, once one of them is no integer
  int64_t count;
  int64_t real_count;

  Wide integers() const { return Wide{integers_high} << 64 | integers_low; }
  void Add(Wide value) {
    const Wide added = integers() + value;
    integers_low = static_cast<uint64_t>(added);
    integers_high = static_cast<int64_t>(added >> 64);
  }
};

// Adds the value, or with a sign of -1 takes it out of a window's sum.
template <int sign>
void Add(sqlite3_context* context, int count, sqlite3_value** values) {
  (void)count;
  const int type = sqlite3_value_numeric_type(values[0]);
  if (type == SQLITE_NULL) return;
  auto* sum = static_cast<Sum*>(sqlite3_aggregate_context(context, sizeof(Sum)));
  if (sum == nullptr) return sqlite3_result_error_nomem(context);
  sum->count += sign;
  if (type == SQLITE_INTEGER) {
    const int64_t value = sqlite3_value_int64(values[0]);
    sum->Add(sign * Wide{value});
    sum->reals += sign * static_cast<double>(value);
  } else {
    sum->real_count += sign;
    sum->reals += sign * sqlite3_value_double(values[0]);
  }
}

void Give(sqlite3_context* context) {
  const auto* sum = static_cast<const Sum*>(sqlite3_aggregate_context(context, 0));
  if (sum == nullptr || sum->count <= 0) return;  // NULL
  const Wide integers = sum->integers();
  const bool fits = integers >= std::numeric_limits<int64_t>::min() &&
                    integers <= std::numeric_limits<int64_t>::max();
  if (sum->real_count > 0) {
    sqlite3_result_double(context, sum->reals);
  } else if (fits) {
    sqlite3_result_int64(context, static_cast<int64_t>(integers));
  } else {
    sqlite3_result_double(context, static_cast<double>(integers));
  }
}

}  // namespace

int RegisterSafeSum(sqlite3* db) {
  constexpr int kFlags = SQLITE_UTF8 | SQLITE_DETERMINISTIC | SQLITE_INNOCUOUS;
  return sqlite3_create_window_function(db, "sum", 1, kFlags, nullptr, Add<1>, Give, Give, Add<-1>,
                                        nullptr);
}

}  // namespace tracedb
