#include "cli_time_zone.h"

#include <ctime>

namespace tracedb {
namespace {

constexpr int64_t kNsPerSecond = 1'000'000'000;
constexpr int kHoursMax = 14;

Error Unknown(const std::string& zone) {
  return {ErrorKind::kUsage, "--tz: '" + zone + "' is no zone that is known",
          "write the offset from UTC, as `date +%:z` prints it: +02:00; or UTC, or local"};
}

// One or two digits at `at`, which moves on; -1: there is none.
int TakeDigits(const std::string& text, size_t& at) {
  const auto is_digit = [&] { return at < text.size() && text[at] >= '0' && text[at] <= '9'; };
  if (!is_digit()) return -1;
  int value = text[at++] - '0';
  if (is_digit()) value = value * 10 + (text[at++] - '0');
  return value;
}

}  // namespace

Result<int64_t> UtcOffsetNs(const std::string& zone) {
  if (zone == "UTC" || zone == "utc" || zone == "Z" || zone == "GMT") return int64_t{0};
  if (zone == "local") {
    const std::time_t now = std::time(nullptr);
    std::tm local{};
    if (localtime_r(&now, &local) == nullptr) return Unknown(zone);
    return int64_t{local.tm_gmtoff} * kNsPerSecond;
  }
  if (zone.empty() || (zone[0] != '+' && zone[0] != '-')) return Unknown(zone);
  size_t at = 1;
  const int hours = TakeDigits(zone, at);
  if (at < zone.size() && zone[at] == ':') ++at;
  const int minutes = at < zone.size() ? TakeDigits(zone, at) : 0;
  const bool is_whole = at == zone.size() && zone.back() != ':';
  if (!is_whole || hours < 0 || hours > kHoursMax || minutes < 0 || minutes > 59) {
    return Unknown(zone);
  }
  const int64_t offset_ns = (int64_t{hours} * 60 + minutes) * 60 * kNsPerSecond;
  return zone[0] == '-' ? -offset_ns : offset_ns;
}

}  // namespace tracedb
