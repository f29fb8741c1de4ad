#include "tracedb/json/json_text.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <cstdio>
#include <utility>

#include "json/json_chars.h"
#include "tracedb/json/json_check.h"
#include "tracedb/json/json_quotes.h"
#include "tracedb/schema/args_columns.h"

namespace tracedb {
namespace {

constexpr std::string_view kReplacement = "\xef\xbf\xbd";  // U+FFFD

// Reads a \u escape at the start of `text` (after the backslash), with its second half where it
// is a surrogate pair; returns how many bytes it took, 0 when it is none.
size_t AppendUnicodeEscape(std::string& out, std::string_view text) {
  const int32_t unit = HexUnit(text.substr(1));
  if (unit < 0) return 0;
  if (unit < 0xd800 || unit > 0xdfff) {
    AppendUtf8(out, unit);
    return 5;
  }
  if (unit < 0xdc00 && text.substr(5).starts_with("\\u")) {
    const int32_t low = HexUnit(text.substr(7));
    if (low >= 0xdc00 && low <= 0xdfff) {
      AppendUtf8(out, 0x10000 + ((unit - 0xd800) << 10) + (low - 0xdc00));
      return 11;
    }
  }
  out += kReplacement;
  return 5;
}

constexpr std::string_view kEscaped = "\"\\/\b\f\n\r\t";

constexpr std::array<std::string_view, 10> kNonFinite = {
    "-Infinity", "Infinity", "-infinity", "infinity", "-inf", "-nan", "-NaN", "inf", "nan", "NaN"};

void AppendControl(std::string& out, char c) {
  char buffer[8];
  std::snprintf(buffer, sizeof buffer, "\\u%04x", static_cast<unsigned char>(c));
  out += buffer;
}

// Copies one string, from after its opening quote up to and with its closing one, mended.
// Returns the position after it.
size_t RepairString(std::string_view text, size_t at, bool with_marks, std::string& out,
                    JsonRepair& repair) {
  while (at < text.size()) {
    const char c = text[at];
    if (c == '"') {
      out += c;
      return at + 1;
    }
    if (c == '\\') {
      const char next = at + 1 < text.size() ? text[at + 1] : '\0';
      const bool known = kEscapes.find(next) != std::string_view::npos && next != '\0';
      const bool unicode = next == 'u' && HexUnit(text.substr(at + 2)) >= 0;
      if (!known && !unicode) {
        repair.text = true;
        out += "\\\\";
        ++at;
        continue;
      }
      out += c;
      out += next;
      at += 2;
      continue;
    }
    if (static_cast<unsigned char>(c) < 0x20 && !(with_marks && IsArgsMark(c))) {
      repair.text = true;
      AppendControl(out, c);
      ++at;
      continue;
    }
    const size_t length = Utf8Length(text.substr(at));
    if (length == 0) {
      repair.text = true;
      out += kReplacement;
      ++at;
      continue;
    }
    out.append(text, at, length);
    at += length;
  }
  return at;
}

}  // namespace

std::string UnescapedJson(std::string_view inside) {
  std::string out;
  out.reserve(inside.size());
  for (size_t at = 0; at < inside.size();) {
    const char c = inside[at];
    if (c == '\\' && at + 1 < inside.size()) {
      const char next = inside[at + 1];
      const size_t known = kEscapes.find(next);
      if (known != std::string_view::npos) {
        out += kEscaped[known];
        at += 2;
        continue;
      }
      if (next == 'u') {
        const size_t taken = AppendUnicodeEscape(out, inside.substr(at + 1));
        if (taken > 0) {
          at += 1 + taken;
          continue;
        }
      }
    }
    const size_t length = Utf8Length(inside.substr(at));
    if (length == 0) {
      out += kReplacement;
      ++at;
    } else {
      out.append(inside, at, length);
      at += length;
    }
  }
  return out;
}

namespace {
// Stands for itself in a JSON string, and is no part of a longer character.
bool IsPlainInString(char c) { return c >= ' ' && c <= '~' && c != '"' && c != '\\'; }
}  // namespace

void AppendJsonString(std::string& out, std::string_view text) {
  out += '"';
  for (size_t at = 0; at < text.size();) {
    size_t plain = at;
    while (plain < text.size() && IsPlainInString(text[plain])) ++plain;
    if (plain > at) {
      out.append(text, at, plain - at);
      at = plain;
      continue;
    }
    const char c = text[at];
    if (c == '"' || c == '\\') {
      out += '\\';
      out += c;
      ++at;
    } else if (static_cast<unsigned char>(c) < 0x20) {
      AppendControl(out, c);
      ++at;
    } else if (const size_t length = Utf8Length(text.substr(at)); length > 0) {
      out.append(text, at, length);
      at += length;
    } else {
      out += kReplacement;
      ++at;
    }
  }
  out += '"';
}

std::string JsonString(std::string_view text) {
  std::string json;
  AppendJsonString(json, text);
  return json;
}

std::string MinifiedJson(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  JsonQuotes quotes;
  for (const char c : text) {
    if (!quotes.Outside(c) || !IsJsonBlank(c)) out += c;
  }
  return out;
}

namespace {

// The number, or what should be one, at the start of `text`.
std::string_view NumberToken(std::string_view text) {
  size_t size = 0;
  while (size < text.size() && (std::isalnum(static_cast<unsigned char>(text[size])) != 0 ||
                                text[size] == '.' || text[size] == '-' || text[size] == '+')) {
    ++size;
  }
  return text.substr(0, size);
}

JsonRepair Repair(std::string_view text, bool with_marks, std::string& repaired) {
  JsonRepair repair;
  repaired.clear();
  repaired.reserve(text.size() + 64);
  for (size_t at = 0; at < text.size();) {
    const char c = text[at];
    if (c == '"') {
      repaired += c;
      at = RepairString(text, at + 1, with_marks, repaired, repair);
      continue;
    }
    if (c == '}' || c == ']') {
      size_t last = repaired.size();
      while (last > 0 && IsJsonBlank(repaired[last - 1])) --last;
      if (last > 0 && repaired[last - 1] == ',') repaired.resize(last - 1);
    }
    const auto odd = std::find_if(kNonFinite.begin(), kNonFinite.end(), [&](std::string_view word) {
      return text.substr(at).starts_with(word);
    });
    if (odd != kNonFinite.end()) {
      repair.non_finite = true;
      repaired += "null";
      at += odd->size();
      continue;
    }
    if (c == '-' || (c >= '0' && c <= '9')) {
      const std::string_view token = NumberToken(text.substr(at));
      at += token.size();
      if (IsJsonNumber(token)) {
        repaired += token;
      } else {  // "-5.-123": kept to the letter, as a string
        repair.text = true;
        AppendJsonString(repaired, token);
      }
      continue;
    }
    repaired += c;
    ++at;
  }
  return repair;
}

}  // namespace

JsonRepair RepairJson(std::string_view text, std::string& repaired) {
  return Repair(text, false, repaired);
}

JsonRepair RepairArgs(std::string_view text, std::string& repaired) {
  return Repair(text, true, repaired);
}

}  // namespace tracedb
