#include "tracedb/json/json_check.h"

#include <string>
#include <string_view>
#include <utility>

#include "json/json_chars.h"
#include "tracedb/json/json_text.h"

namespace tracedb {

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
    while (at_ < text_.size() &&
           std::string_view(" \t\r\n,]}").find(text_[at_]) == std::string_view::npos) {
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
  bool first_ = false;  // nothing has been read after the innermost one
};

}  // namespace

bool IsJson(std::string_view text) { return JsonCheck(text).Whole(); }

}  // namespace tracedb
