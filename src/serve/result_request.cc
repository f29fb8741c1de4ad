#include "serve/result_request.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "serve/site_address.h"
#include "tracedb/text/near_name.h"

namespace tracedb {
namespace {

constexpr std::array<std::string_view, 9> kFormParams = {"bom",  "find", "format", "header", "ns",
                                                         "safe", "show", "sql",    "token"};
// Those of the page, which other answers take no notice of.
constexpr std::array<std::string_view, 4> kPageParams = {"find", "show", "sql", "token"};

Result<bool> ReadSwitch(std::string_view name, std::string_view text) {
  if (text == "1" || text == "true" || text == "yes") return true;
  if (text == "0" || text == "false" || text == "no") return false;
  return Error{ErrorKind::kUsage, fmt::format("{}: 0 or 1 is wanted", name), ""};
}

Result<Format> ReadFormat(std::string_view text) {
  const auto format = FormatByName(text);
  if (format.has_value() && std::ranges::find(kServedFormats, *format) != kServedFormats.end()) {
    return *format;
  }
  return Error{ErrorKind::kUsage, "format: csv, tsv, json, ndjson or parquet is wanted", ""};
}

Status ReadFormParam(std::string_view name, std::string_view text, ResultForm& form) {
  if (std::ranges::find(kPageParams, name) != kPageParams.end()) return Done{};
  if (name == "format") {
    TRACEDB_ASSIGN(format, ReadFormat(text));
    form.format = format;
    return Done{};
  }
  if (name == "ns") {
    if (text != "text" && text != "number") {
      return Error{ErrorKind::kUsage, "ns: text or number is wanted", ""};
    }
    form.long_as_text = text == "text";
    return Done{};
  }
  TRACEDB_ASSIGN(on, ReadSwitch(name, text));
  (name == "bom" ? form.byte_order_mark : name == "header" ? form.header : form.safe_text) = on;
  return Done{};
}

}  // namespace

bool IsFormParam(std::string_view name) {
  return std::ranges::find(kFormParams, name) != kFormParams.end();
}

Error WithFormParams(Error error) {
  constexpr std::string_view kUnknown = "there is no parameter '";
  const size_t at = error.what.find(kUnknown);
  if (at == error.what.npos || error.advice.starts_with("did you mean")) return error;
  std::string name = error.what.substr(at + kUnknown.size());
  name.resize(std::min(name.find('\''), name.size()));
  const std::vector<std::string> forms = {"bom", "format", "header", "ns", "safe"};
  const std::vector<std::string> near = NearNames(name, forms);
  if (!near.empty()) error.advice = DidYouMean(near) + " " + error.advice;
  return error;
}

Result<ResultRequest> ReadResultRequest(const WebRequest& request, bool is_table, bool raw,
                                        Format otherwise) {
  ResultRequest result;
  result.form.format = otherwise;
  result.form.safe_text = !raw;
  for (const auto& [name, text] : request.params) {
    if (text.empty()) continue;
    if (IsFormParam(name)) {
      TRACEDB_TRY(ReadFormParam(name, text, result.form));
    } else if (is_table && name == "order") {
      result.order = text;
    } else {
      result.params.push_back(fmt::format("{}={}", name, text));
    }
  }
  // Only a text for people and spreadsheets has use for a mark.
  const bool separated = result.form.format == Format::kCsv || result.form.format == Format::kTsv;
  result.form.byte_order_mark = result.form.byte_order_mark && separated;
  const bool is_packed = result.form.format == Format::kParquet;
  result.form.gzip = AcceptsGzip(request.accept_encoding) && !is_packed;
  return result;
}

}  // namespace tracedb
