#include "tracedb/text/result_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <iterator>

namespace tracedb {
namespace {

struct Range {
  char32_t first, last;
};

template <size_t kSize>
bool IsIn(const std::array<Range, kSize>& ranges, char32_t code) {
  for (const Range& range : ranges) {
    if (code >= range.first && code <= range.last) return true;
  }
  return false;
}

constexpr std::array<Range, 6> kNoWidth = {{{0x300, 0x36F},
                                            {0x483, 0x489},
                                            {0x591, 0x5BD},
                                            {0x1AB0, 0x1AFF},
                                            {0x20D0, 0x20FF},
                                            {0xFE00, 0xFE0F}}};

constexpr std::array<Range, 11> kTwoWide = {{{0x1100, 0x115F},
                                             {0x2E80, 0x303E},
                                             {0x3041, 0x4DBF},
                                             {0x4E00, 0xA4CF},
                                             {0xAC00, 0xD7A3},
                                             {0xF900, 0xFAFF},
                                             {0xFE30, 0xFE6F},
                                             {0xFF00, 0xFF60},
                                             {0xFFE0, 0xFFE6},
                                             {0x1F300, 0x1FAFF},
                                             {0x20000, 0x3FFFD}}};

// Not seen, or seen as something else: joiners, direction marks, line separators, tags.
constexpr std::array<Range, 7> kDeceiving = {{{0x61C, 0x61C},
                                              {0x180E, 0x180E},
                                              {0x200B, 0x200F},
                                              {0x2028, 0x202E},
                                              {0x2060, 0x206F},
                                              {0xFEFF, 0xFEFF},
                                              {0xE0000, 0xE0FFF}}};

size_t CharacterWidth(char32_t code) {
  if (code < 0x300) return 1;
  if (IsIn(kNoWidth, code)) return 0;
  return IsIn(kTwoWide, code) ? 2 : 1;
}

void AppendShownControl(std::string& out, char32_t code) {
  switch (code) {
    case '\n':
      out += "\\n";
      return;
    case '\r':
      out += "\\r";
      return;
    case '\t':
      out += "\\t";
      return;
    default:
      fmt::format_to(std::back_inserter(out), "\\x{:02x}", static_cast<unsigned>(code));
  }
}

}  // namespace

Utf8Character ReadUtf8(std::string_view text) {
  const auto lead = static_cast<unsigned char>(text[0]);
  if (lead < 0x80) return {lead, 1, true};
  const size_t bytes = lead >= 0xF0 ? 4 : lead >= 0xE0 ? 3 : 2;
  if (lead < 0xC2 || lead > 0xF4 || text.size() < bytes) return {};
  char32_t code = lead & (0xFFu >> (bytes + 1));
  for (size_t i = 1; i < bytes; ++i) {
    const auto next = static_cast<unsigned char>(text[i]);
    if ((next & 0xC0u) != 0x80) return {};
    code = (code << 6) | (next & 0x3Fu);
  }
  // Longer than it need be, half of a UTF-16 pair, or past the end of Unicode.
  const bool overlong = (bytes == 3 && code < 0x800) || (bytes == 4 && code < 0x10000);
  if (overlong || (code >= 0xD800 && code <= 0xDFFF) || code > 0x10FFFF) return {};
  return {code, bytes, true};
}

size_t CountCharacters(std::string_view text) {
  size_t count = 0;
  for (; !text.empty(); ++count) text.remove_prefix(ReadUtf8(text).bytes);
  return count;
}

size_t DisplayWidth(std::string_view text) {
  size_t width = 0;
  while (!text.empty()) {
    const Utf8Character character = ReadUtf8(text);
    width += CharacterWidth(character.code);
    text.remove_prefix(character.bytes);
  }
  return width;
}

std::string CutToWidth(std::string_view text, size_t width, std::string_view mark) {
  if (DisplayWidth(text) <= width) return std::string(text);
  size_t bytes = 0;
  size_t used = DisplayWidth(mark);
  while (bytes < text.size()) {
    const Utf8Character character = ReadUtf8(text.substr(bytes));
    used += CharacterWidth(character.code);
    if (used > width) break;
    bytes += character.bytes;
  }
  return std::string(text.substr(0, bytes)).append(mark);
}

std::string CutFrontToWidth(std::string_view text, size_t width) {
  constexpr std::string_view kMark = "…";
  if (DisplayWidth(text) <= width) return std::string(text);
  const size_t room = width - std::min(width, DisplayWidth(kMark));
  while (DisplayWidth(text) > room) text.remove_prefix(ReadUtf8(text).bytes);
  return std::string(kMark).append(text);
}

std::string ShownText(std::string_view text) {
  std::string shown;
  shown.reserve(text.size());
  while (!text.empty()) {
    const Utf8Character character = ReadUtf8(text);
    if (!character.valid) {
      shown += "\xEF\xBF\xBD";
    } else if (character.code < 0x20 || (character.code >= 0x7F && character.code < 0xA0)) {
      AppendShownControl(shown, character.code);
    } else if (IsIn(kDeceiving, character.code)) {
      fmt::format_to(std::back_inserter(shown), "\\u{:04x}", static_cast<unsigned>(character.code));
    } else {
      shown += text.substr(0, character.bytes);
    }
    text.remove_prefix(character.bytes);
  }
  return shown;
}

std::string AsciiText(std::string_view shown) {
  std::string ascii;
  while (!shown.empty()) {
    const Utf8Character character = ReadUtf8(shown);
    if (character.valid && character.code < 0x80) {
      ascii += shown[0];
    } else {
      const unsigned code = character.valid ? static_cast<unsigned>(character.code) : 0xFFFDu;
      fmt::format_to(std::back_inserter(ascii), "\\u{:04x}", code);
    }
    shown.remove_prefix(character.bytes);
  }
  return ascii;
}

void AppendReal(std::string& out, double real) {
  // Without a format to_chars writes 100000 as 1e+05, which is shorter but not what people write.
  const double size = std::fabs(real);
  const bool plain = real == 0 || (size >= 1e-4 && size < 1e15);
  std::array<char, 64> text;
  const auto [end, code] =
      plain ? std::to_chars(text.data(), text.data() + text.size(), real, std::chars_format::fixed)
            : std::to_chars(text.data(), text.data() + text.size(), real);
  if (code == std::errc()) out.append(text.data(), end);
}

void AppendJsonText(std::string& out, std::string_view text) {
  out += '"';
  while (!text.empty()) {
    const Utf8Character character = ReadUtf8(text);
    if (!character.valid) {
      out += "\xEF\xBF\xBD";
    } else if (character.code == '"' || character.code == '\\') {
      out += '\\';
      out += static_cast<char>(character.code);
    } else if (character.code == '\n') {
      out += "\\n";
    } else if (character.code == '\t') {
      out += "\\t";
    } else if (character.code < 0x20 || character.code == 0x7F) {
      fmt::format_to(std::back_inserter(out), "\\u{:04x}", static_cast<unsigned>(character.code));
    } else {
      out += text.substr(0, character.bytes);
    }
    text.remove_prefix(character.bytes);
  }
  out += '"';
}

void AppendHex(std::string& out, std::string_view bytes) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  for (char byte : bytes) {
    const auto value = static_cast<unsigned char>(byte);
    out += kDigits[value >> 4];
    out += kDigits[value & 0xF];
  }
}

std::vector<std::string> WrapText(std::string_view text, size_t width) {
  std::vector<std::string> lines;
  for (;;) {
    // No more than a line can be made of: the text may have megabytes.
    const std::string_view head = text.substr(0, 8 * (width + 1));
    if (lines.size() + 1 == kWrappedLinesMax ||
        (head.size() == text.size() && DisplayWidth(head) <= width)) {
      lines.push_back(CutToWidth(head, width));
      return lines;
    }
    size_t end = std::max(CutToWidth(head, width, "").size(), ReadUtf8(head).bytes);
    const size_t blank = head.substr(0, end + 1).rfind(' ');
    if (blank != std::string_view::npos && blank > 0) {
      // A word that is longer than a line is broken where the line ends.
      const std::string_view word = head.substr(blank + 1, head.find(' ', blank + 1) - blank - 1);
      if (DisplayWidth(word) <= width) end = blank;
    }
    lines.emplace_back(text.substr(0, text.substr(0, end).find_last_not_of(' ') + 1));
    text.remove_prefix(end);
    while (text.starts_with(' ')) text.remove_prefix(1);
  }
}

}  // namespace tracedb
