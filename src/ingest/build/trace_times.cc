#include "ingest/build/trace_times.h"

#include <string>

namespace tracedb {
namespace {

constexpr int64_t kHourNs = int64_t{3600} * 1'000'000'000;

}  // namespace

// Where most events are; but one beside `near` comes before all others, however few it has.
std::optional<size_t> TraceTimes::Bulk(const Stretches& stretches, std::optional<size_t> near) {
  std::optional<size_t> bulk;
  for (size_t i = 0; i < stretches.size(); ++i) {
    if (stretches[i].events == 0) continue;
    const auto is_near = [near](size_t at) {
      return near.has_value() && at + 1 >= *near && at <= *near + 1;
    };
    const bool nearer = bulk.has_value() && is_near(i) != is_near(*bulk) && is_near(i);
    const bool same = !bulk.has_value() || is_near(i) == is_near(*bulk);
    if (nearer || (same && (!bulk.has_value() || stretches[i].events >= stretches[*bulk].events))) {
      bulk = i;
    }
  }
  return bulk;
}

// The bulk's stretch and the two beside it; adds them all up to `kept` and the others to `far`.
TimeRule::Window TraceTimes::Around(const Stretches& stretches, std::optional<size_t> bulk,
                                    Stretch& kept, Stretch& far) {
  TimeRule::Window window;
  if (!bulk.has_value()) return window;
  const auto start_of = [](size_t place) {
    return (static_cast<int64_t>(place) << kStretchBits) - TimeRule::kTimeMaxNs;
  };
  if (*bulk > 1) window.from = start_of(*bulk - 1);
  if (*bulk + 2 < kStretches) window.to = start_of(*bulk + 2) - 1;
  for (size_t i = 0; i < stretches.size(); ++i) {
    const Stretch& stretch = stretches[i];
    if (stretch.events == 0) continue;
    Stretch& sum = i + 1 >= *bulk && i <= *bulk + 1 ? kept : far;
    const uint64_t events = sum.events + stretch.events;
    Count(sum, stretch.first_start, stretch.last_end, stretch.first_offset);
    sum.events = events;
  }
  return window;
}

TraceTimes::Verdict TraceTimes::Decide(EventIssues& issues) const {
  Verdict verdict;
  TimeRule& rule = verdict.rule;
  Stretch kept;
  Stretch far;
  const std::optional<size_t> host = Bulk(host_, std::nullopt);
  rule.host = Around(host_, host, kept, far);
  rule.gpu = Around(gpu_, Bulk(gpu_, host), kept, far);
  const bool untimed = zero_.events > 0 && kept.events > 0 && kept.first_start > kHourNs;
  if (untimed) {
    rule.no_time = 0;
  } else if (zero_.events > 0) {
    Count(kept, zero_.first_start, zero_.last_end, zero_.first_offset);
    // What is at the trace's own zero is no outlier where nothing says so.
    rule.gpu.from = std::min<int64_t>(rule.gpu.from, 0);
    rule.gpu.to = std::max<int64_t>(rule.gpu.to, 0);
  }
  if (kept.events > 0) {
    verdict.first_start_ns = kept.first_start;
    verdict.last_end_ns = kept.last_end;
  }
  const auto tell = [&](const Stretch& events, const char* what) {
    if (events.events == 0) return;
    rule.any = true;
    issues.Add(IssueKind::kImpossibleTime, events.first_offset, what, events.events);
  };
  tell(too_long_, "a duration of more than 100 days");
  tell(far, "ts is more than a year from the trace's other events");
  if (untimed) tell(zero_, "ts is 0, hours before the trace's other events");
  return verdict;
}

}  // namespace tracedb
