#include "tracedb/text/terminal_text.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>

#include "tracedb/text/result_text.h"

namespace tracedb {
namespace {

constexpr size_t kColumnsMin = 20;  // in fewer nothing is easier to read

void AppendWrapped(std::string& wrapped, std::string_view line, size_t columns) {
  const size_t indent = std::min(line.find_first_not_of(' '), line.size());
  const size_t room = columns - std::min(indent + 2, columns - kColumnsMin / 2);
  // The first line has the room that the others leave at their beginnings.
  std::string first = WrapText(line, columns).front();
  wrapped += first + '\n';
  line.remove_prefix(first.size());
  line.remove_prefix(std::min(line.find_first_not_of(' '), line.size()));
  if (line.empty()) return;
  for (const std::string& more : WrapText(line, room)) {
    wrapped += std::string(columns - room, ' ') + more + '\n';
  }
}

}  // namespace

size_t TerminalColumns(int descriptor) {
  winsize size{};
  const bool is_known = isatty(descriptor) == 1 && ioctl(descriptor, TIOCGWINSZ, &size) == 0;
  return is_known ? size.ws_col : 0;
}

std::string WrapLines(std::string_view text, size_t columns) {
  if (columns < kColumnsMin) return std::string(text);
  std::string wrapped;
  while (!text.empty()) {
    const size_t end = std::min(text.find('\n'), text.size());
    const std::string_view line = text.substr(0, end);
    const bool ends = end < text.size();
    text.remove_prefix(std::min(end + 1, text.size()));
    if (DisplayWidth(line) > columns) {
      AppendWrapped(wrapped, line, columns);
    } else {
      wrapped.append(line) += '\n';
    }
    if (!ends) wrapped.pop_back();
  }
  return wrapped;
}

}  // namespace tracedb
