#include "report/page_policy.h"

#include <fmt/format.h>

#include "report/page_parts.h"
#include "tracedb/report/report_page.h"

namespace tracedb {
namespace {

unsigned DigitOf(char c) {
  return c <= '9' ? static_cast<unsigned>(c - '0') : static_cast<unsigned>(c - 'a' + 10);
}

// Three hexadecimal digits are two of Base64.
std::string AsBase64(std::string_view hexadecimal) {
  constexpr std::string_view kDigits =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string text;
  for (size_t at = 0; at < hexadecimal.size(); at += 3) {
    unsigned bits = 0;
    for (size_t i = at; i < at + 3; ++i) {
      bits = bits << 4 | (i < hexadecimal.size() ? DigitOf(hexadecimal[i]) : 0);
    }
    text += kDigits[bits >> 6];
    if (at + 1 < hexadecimal.size()) text += kDigits[bits & 63];
  }
  while (text.size() % 4 != 0) text += '=';
  return text;
}

}  // namespace

std::string PolicyHash(std::string_view hexadecimal) {
  return fmt::format("'sha256-{}'", AsBase64(hexadecimal));
}

std::string ReportPolicy(bool is_served) {
  return fmt::format(
      "default-src 'none'; img-src data:; script-src {} {}; style-src {}; base-uri 'none'; "
      "form-action 'none'{}",
      PolicyHash(ChartLibrary().sha256), PolicyHash(PageScript().sha256),
      PolicyHash(PageStyle().sha256), is_served ? "; connect-src 'self'" : "");
}

}  // namespace tracedb
