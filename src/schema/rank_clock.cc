#include "tracedb/schema/rank_clock.h"

namespace tracedb {

int64_t RankClock::Aligned(int64_t ts_ns) const {
  // Whole seconds and the rest alone: the product of all would not fit after some hours.
  constexpr int64_t kSecond = 1'000'000'000;
  const int64_t since = ts_ns - origin_ns;
  const int64_t drift_ns = since / kSecond * drift_ppb + since % kSecond * drift_ppb / kSecond;
  return ts_ns + offset_ns + drift_ns;
}

int64_t RankClock::Own(int64_t aligned_ns) const {
  // Clocks never run backwards: by halves between two bounds around the answer.
  const int64_t guess = aligned_ns - offset_ns;
  const int64_t drift = Aligned(guess) - aligned_ns;
  const int64_t reach = 2 * (drift < 0 ? -drift : drift) + 2;
  int64_t low = guess - reach;
  int64_t high = guess + reach;
  while (low < high) {
    const int64_t middle = low + (high - low) / 2;
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
