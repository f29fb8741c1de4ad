#include "tracedb/schema/rank_clock.h"

namespace tracedb {

namespace {

// Senseless times and clocks are beyond what fits: they come out wrong, and nothing else happens.
int64_t Sum(int64_t a, int64_t b) {
  return static_cast<int64_t>(static_cast<uint64_t>(a) + static_cast<uint64_t>(b));
}
int64_t Difference(int64_t a, int64_t b) {
  return static_cast<int64_t>(static_cast<uint64_t>(a) - static_cast<uint64_t>(b));
}
int64_t Product(int64_t a, int64_t b) {
  return static_cast<int64_t>(static_cast<uint64_t>(a) * static_cast<uint64_t>(b));
}

}  // namespace

int64_t RankClock::Aligned(int64_t ts_ns) const {
  // Whole seconds and the rest alone: the product of all would not fit after some hours.
  constexpr int64_t kSecond = 1'000'000'000;
  const int64_t since = Difference(ts_ns, origin_ns);
  const int64_t drift_ns =
      Sum(Product(since / kSecond, drift_ppb), Product(since % kSecond, drift_ppb) / kSecond);
  return Sum(Sum(ts_ns, offset_ns), drift_ns);
}

int64_t RankClock::Own(int64_t aligned_ns) const {
  // Clocks never run backwards: by halves between two bounds around the answer.
  const int64_t guess = Difference(aligned_ns, offset_ns);
  const int64_t drift = Difference(Aligned(guess), aligned_ns);
  const int64_t reach = Sum(Product(2, drift < 0 ? Difference(0, drift) : drift), 2);
  int64_t low = Difference(guess, reach);
  int64_t high = Sum(guess, reach);
  while (low < high) {
    const int64_t middle = Sum(low, Difference(high, low) / 2);
    if (middle < low || middle >= high) break;  // further apart than what fits
    if (Aligned(middle) < aligned_ns) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return low;
}

Result<RankClocks> RankClocks::Read(SqliteDb& db) {
  RankClocks clocks;
  TRACEDB_ASSIGN(rows, db.Prepare("SELECT trace_id, offset_ns, drift_ppb, origin_ns FROM _clock"));
  for (;;) {
    TRACEDB_ASSIGN(any, rows.Step());
    if (!any) return clocks;
    clocks.clocks_[rows.Int(0)] = {rows.Int(1), rows.Int(2), rows.Int(3)};
  }
}

std::string AlignedSql(const std::string& time) {
  return "(" + time + " + ifnull(c.offset_ns + (" + time +
         " - c.origin_ns) * c.drift_ppb / 1000000000, 0))";
}

}  // namespace tracedb
