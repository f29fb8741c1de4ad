#include "ingest/json_text.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <cstdio>
#include <utility>

#include "ingest/args_slots.h"

namespace tracedb {
namespace {

constexpr std::string_view kReplacement = "\xef\xbf\xbd";  // U+FFFD

int HexValue(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

// The four hexadecimal digits at the start of `text`; -1 when they are not there.
int32_t HexUnit(std::string_view text) {
  if (text.size() < 4) return -1;
  int32_t unit = 0;
  for (size_t i = 0; i < 4; ++i) {
    const int digit = HexValue(text[i]);
    if (digit < 0) return -1;
    unit = unit * 16 + digit;
  }
  return unit;
}

void AppendUtf8(std::string& out, int32_t code) {
  const auto put = [&out](int32_t byte) { out += static_cast<char>(byte); };
  if (code < 0x80) {
    put(code);
  } else if (code < 0x800) {
    put(0xc0 | code >> 6);
    put(0x80 | (code & 0x3f));
  } else if (code < 0x10000) {
    put(0xe0 | code >> 12);
    put(0x80 | (code >> 6 & 0x3f));
    put(0x80 | (code & 0x3f));
  } else {
    put(0xf0 | code >> 18);
    put(0x80 | (code >> 12 & 0x3f));
    put(0x80 | (code >> 6 & 0x3f));
    put(0x80 | (code & 0x3f));
  }
}

// How many bytes at the start of `text` are one valid UTF-8 character; 0 when they are none.
size_t Utf8Length(std::string_view text) {
  const auto byte = [text](size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned char first = byte(0);
  if (first < 0x80) return 1;
  const size_t length = first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : 2;
  if (first < 0xc2 || first > 0xf4 || text.size() < length) return 0;
  for (size_t i = 1; i < length; ++i) {
    if ((byte(i) & 0xc0) != 0x80) return 0;
  }
  const unsigned char second = byte(1);
  if ((first == 0xe0 && second < 0xa0) || (first == 0xed && second > 0x9f) ||
      (first == 0xf0 && second < 0x90) || (first == 0xf4 && second > 0x8f)) {
    return 0;
  }
  return length;
}

// Reads a \u escape at the start of `text` (behind the backslash), with its second half where it
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

constexpr std::string_view kEscapes = "\"\\/bfnrt";
constexpr std::string_view kEscaped = "\"\\/\b\f\n\r\t";

constexpr std::array<std::string_view, 10> kNonFinite = {
    "-Infinity", "Infinity", "-infinity", "infinity", "-inf", "-nan", "-NaN", "inf", "nan", "NaN"};

void AppendControl(std::string& out, char c) {
  char buffer[8];
  std::snprintf(buffer, sizeof buffer, "\\u%04x", static_cast<unsigned char>(c));
  out += buffer;
}

// Copies one string, from behind its opening quote up to and with its closing one, mended.
// Returns the position behind it.
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
    if (static_cast<unsigned char>(c) < 0x20 && !(with_marks && IsSlotMark(c))) {
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

bool IsJsonNumber(std::string_view text) {
  size_t at = text.starts_with('-') ? 1 : 0;
  const auto digits = [&] {
    const size_t from = at;
    while (at < text.size() && text[at] >= '0' && text[at] <= '9') ++at;
    return at > from;
  };
  const bool leading_zero = at < text.size() && text[at] == '0';
  const size_t whole = at;
  if (!digits() || (leading_zero && at > whole + 1)) return false;
  if (at < text.size() && text[at] == '.') {
    ++at;
    if (!digits()) return false;
  }
  if (at < text.size() && (text[at] == 'e' || text[at] == 'E')) {
    ++at;
    if (at < text.size() && (text[at] == '+' || text[at] == '-')) ++at;
    if (!digits()) return false;
  }
  return at == text.size();
}

namespace {

// Reads one JSON text without recursion.
class JsonCheck {
 public:
  explicit JsonCheck(std::string_view text) : text_(text) {}

  bool Whole() {
    if (!Value()) return false;
    while (!open_.empty()) {
      if (!Next()) return false;
    }
    SkipBlanks();
    return at_ == text_.size();
  }

 private:
  static constexpr size_t kDepthMax = 1000;

  char Peek() const { return at_ < text_.size() ? text_[at_] : '\0'; }
  void SkipBlanks() {
    while (at_ < text_.size() && IsJsonBlank(text_[at_])) ++at_;
  }
  bool Take(char c) {
    SkipBlanks();
    if (Peek() != c) return false;
    ++at_;
    return true;
  }

  // A value, or the opening of one that Next goes on with.
  bool Value() {
    SkipBlanks();
    const char c = Peek();
    if (c == '"') return String();
    if (c == '{' || c == '[') {
      ++at_;
      if (open_.size() == kDepthMax) return false;
      open_ += c;
      first_ = true;
      return true;
    }
    const size_t from = at_;
    while (at_ < text_.size() && std::string_view(" \t\r\n,]}").find(text_[at_]) ==
                                     std::string_view::npos) {
      ++at_;
    }
    const std::string_view token = text_.substr(from, at_ - from);
    return token == "true" || token == "false" || token == "null" || IsJsonNumber(token);
  }

  // The next member of the innermost open object or array, or its end.
  bool Next() {
    const bool first = std::exchange(first_, false);
    const bool object = open_.back() == '{';
    if (Take(object ? '}' : ']')) {
      open_.pop_back();
      return true;
    }
    if (!first && !Take(',')) return false;
    SkipBlanks();
    if (object && !(String() && Take(':'))) return false;
    return Value();
  }

  bool String() {
    if (Peek() != '"') return false;
    for (++at_; at_ < text_.size();) {
      const char c = text_[at_];
      if (c == '"') {
        ++at_;
        return true;
      }
      if (static_cast<unsigned char>(c) < 0x20) return false;
      if (c == '\\') {
        const char next = at_ + 1 < text_.size() ? text_[at_ + 1] : '\0';
        const bool known = next != '\0' && kEscapes.find(next) != std::string_view::npos;
        if (!known && !(next == 'u' && HexUnit(text_.substr(at_ + 2)) >= 0)) return false;
        at_ += 2;
        continue;
      }
      const size_t length = Utf8Length(text_.substr(at_));
      if (length == 0) return false;
      at_ += length;
    }
    return false;
  }

  std::string_view text_;
  size_t at_ = 0;
  std::string open_;    // the brackets open, outermost first
  bool first_ = false;  // nothing has been read behind the innermost one
};

}  // namespace

bool IsJson(std::string_view text) { return JsonCheck(text).Whole(); }

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

void AppendJsonString(std::string& out, std::string_view text) {
  out += '"';
  for (size_t at = 0; at < text.size();) {
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

std::string MinifiedJson(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  bool in_string = false;
  bool escaped = false;
  for (const char c : text) {
    if (in_string) {
      if (c == '"' && !escaped) in_string = false;
      escaped = c == '\\' && !escaped;
    } else if (c == '"') {
      in_string = true;
      escaped = false;
    } else if (IsJsonBlank(c)) {
      continue;
    }
    out += c;
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
