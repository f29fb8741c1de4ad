#include "query/plot/plot_settings.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <string>
#include <string_view>

namespace tracedb {
namespace {

constexpr size_t kWidthDefault = 80;
constexpr size_t kWidthMin = 20;
constexpr size_t kWidthMax = 1000;

}  // namespace

size_t WidthFromText(const char* columns) {
  if (columns == nullptr) return kWidthDefault;
  const std::string_view text = columns;
  size_t width = 0;
  const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), width);
  const bool whole = end == text.data() + text.size() && !text.empty();
  if (whole && code == std::errc::result_out_of_range) return kWidthMax;
  if (!whole || code != std::errc() || width == 0) return kWidthDefault;
  return std::clamp(width, kWidthMin, kWidthMax);
}

bool IsUtf8Locale(const char* lc_all, const char* lc_ctype, const char* lang) {
  for (const char* locale : {lc_all, lc_ctype, lang}) {
    if (locale == nullptr || *locale == '\0') continue;
    std::string name = locale;
    for (char& c : name) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
    return name.find("utf-8") != std::string::npos || name.find("utf8") != std::string::npos;
  }
  return false;
}

size_t LineWidth(int descriptor) {
  winsize size{};
  const bool known = isatty(descriptor) == 1 && ioctl(descriptor, TIOCGWINSZ, &size) == 0;
  if (known && size.ws_col > 0) return std::clamp<size_t>(size.ws_col, kWidthMin, kWidthMax);
  return WidthFromText(std::getenv("COLUMNS"));
}

bool ShowsUnicode() {
  return IsUtf8Locale(std::getenv("LC_ALL"), std::getenv("LC_CTYPE"), std::getenv("LANG"));
}

}  // namespace tracedb
