#include "serve/report_request.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <optional>
#include <string>
#include <system_error>
#include <vector>

#include "serve/result_request.h"
#include "tracedb/text/near_name.h"
#include "tracedb/text/result_text.h"

namespace tracedb {

Result<ReportOptions> ReadReportRequest(const WebRequest& request, const std::string& version) {
  ReportOptions report;
  report.version = version;
  report.is_served = true;
  const std::vector<std::string> known = {"capture", "rank", "run", "step", "theme", "title"};
  for (const auto& [name, text] : request.params) {
    if (!IsFormParam(name) && std::ranges::find(known, name) == known.end()) {
      const std::vector<std::string> near = NearNames(name, known);
      return Error{ErrorKind::kUsage, fmt::format("there is no parameter '{}'", ShownText(name)),
                   fmt::format("{}{}its parameters are: {}", DidYouMean(near),
                               near.empty() ? "" : " ", JoinNames(known))};
    }
    std::optional<int64_t>* number = name == "capture" ? &report.capture
                                     : name == "step"  ? &report.step
                                     : name == "rank"  ? &report.rank
                                                       : nullptr;
    if (number != nullptr) {
      int64_t value = 0;
      const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
      if (error != std::errc() || end != text.data() + text.size()) {
        return Error{ErrorKind::kUsage, fmt::format("{} must be a whole number", name), ""};
      }
      *number = value;
    }
    if (name == "run") report.run = text;
    if (name == "title") report.title = text;
    if (name == "theme" && text != "light" && text != "dark") {
      return Error{ErrorKind::kUsage, "theme is light or dark", ""};
    }
    if (name == "theme") report.theme = text;
  }
  return report;
}

}  // namespace tracedb
