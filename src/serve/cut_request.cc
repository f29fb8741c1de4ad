#include "serve/cut_request.h"

#include <fmt/format.h>

#include <charconv>
#include <cmath>
#include <string_view>
#include <system_error>

namespace tracedb {
namespace {

// What Perfetto opens in some seconds; a step of 64 ranks has as many.
constexpr int64_t kEventsMax = 500'000;
constexpr double kMsMax = 1e12;

template <typename Number>
Result<Number> ReadNumber(std::string_view name, std::string_view text) {
  Number value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error == std::errc() && end == text.data() + text.size()) return value;
  return Error{ErrorKind::kUsage, fmt::format("{}: a number is wanted", name),
               "as in /cut.json.gz?from=12.5&to=13"};
}

Result<double> ReadMs(const WebRequest& request, std::string_view name) {
  TRACEDB_ASSIGN(ms, ReadNumber<double>(name, request.Param(name)));
  if (std::isfinite(ms) && std::abs(ms) < kMsMax) return ms;
  return Error{ErrorKind::kUsage, fmt::format("{}: this is no time in milliseconds", name), ""};
}

}  // namespace

Result<ServedCut> ReadCutRequest(const WebRequest& request) {
  ServedCut cut;
  cut.events_max = kEventsMax;
  TRACEDB_ASSIGN(from_ms, ReadMs(request, "from"));
  TRACEDB_ASSIGN(to_ms, ReadMs(request, "to"));
  if (to_ms <= from_ms) return Error{ErrorKind::kUsage, "to: this is not after from", ""};
  cut.from_ms = from_ms;
  cut.to_ms = to_ms;
  for (const auto& [name, text] : request.params) {
    if (name == "from" || name == "to" || name == "token" || text.empty()) continue;
    if (name == "run") {
      cut.run = text;
    } else if (name == "capture") {
      TRACEDB_ASSIGN(capture, ReadNumber<int64_t>(name, text));
      cut.capture = capture;
    } else if (name == "incoming" && (text == "0" || text == "1")) {
      cut.incoming = text == "1";
    } else {
      return Error{ErrorKind::kUsage, "from, to, run, capture and incoming (0 or 1) are known", ""};
    }
  }
  return cut;
}

}  // namespace tracedb
