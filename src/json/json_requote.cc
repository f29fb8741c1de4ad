#include "tracedb/json/json_requote.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <cstdint>
#include <vector>

#include "tracedb/json/event_keys.h"
#include "tracedb/json/json_text.h"

namespace tracedb {
namespace {

constexpr size_t kKeyBytesMax = 128;  // how far a key is looked for: keeps the whole linear

bool IsBareKeyChar(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }

class Requoter {
 public:
  // With `plain_backslash` a quote after a backslash may end a string too: "C:\".
  Requoter(std::string_view text, bool plain_backslash, std::string& out)
      : text_(text), plain_backslash_(plain_backslash), out_(out) {}

  bool Run() {
    while (at_ < text_.size()) {
      const char c = text_[at_];
      if (IsJsonBlank(c)) {
        Copy(1);
      } else if (c == '{' || c == '[') {
        open_.push_back(c);
        key_next_ = c == '{';
        Copy(1);
      } else if (c == '}' || c == ']') {
        if (open_.empty() || open_.back() != (c == '}' ? '{' : '[')) return false;
        open_.pop_back();
        key_next_ = false;
        Copy(1);
        if (open_.empty()) return at_ == text_.size();
      } else if (c == ',') {
        key_next_ = !open_.empty() && open_.back() == '{';
        Copy(1);
      } else if (key_next_ || (c == '"' && IsEventKeyAt(at_) && open_.size() == 1)) {
        if (!key_next_) out_ += ',';  // it was lost
        if (!Key()) return false;
      } else if (c == '"') {
        if (!String()) return false;
      } else {
        Scalar();
      }
    }
    return false;
  }

 private:
  void Copy(size_t count) {
    out_.append(text_, at_, count);
    at_ += count;
  }

  size_t SkipBlanks(size_t at) const {
    while (at < text_.size() && IsJsonBlank(text_[at])) ++at;
    return at;
  }

  // The length of a key at `at`, quotes that are there included, when a colon follows; else 0.
  size_t KeyLength(size_t at) const {
    const bool quoted = at < text_.size() && text_[at] == '"';
    size_t end = quoted ? at + 1 : at;
    const size_t limit = std::min(text_.size(), at + kKeyBytesMax);
    const auto goes_on = [&](char c) {
      return quoted ? c != '"' && c != '\n' : IsBareKeyChar(c) || c == ' ';
    };
    while (end < limit && goes_on(text_[end])) ++end;
    if (end == at || (!quoted && std::isdigit(static_cast<unsigned char>(text_[at])) != 0))
      return 0;
    if (end < text_.size() && text_[end] == '"') ++end;
    const size_t colon = SkipBlanks(end);
    return colon < text_.size() && text_[colon] == ':' ? end - at : 0;
  }

  std::string_view BareKey(size_t at, size_t length) const {
    std::string_view key = text_.substr(at, length);
    if (!key.empty() && key.front() == '"') key.remove_prefix(1);
    if (!key.empty() && key.back() == '"') key.remove_suffix(1);
    return key;
  }

  bool IsEventKeyAt(size_t at) const {
    const std::string_view key = BareKey(at, KeyLength(at));
    return std::find(kEventKeys.begin(), kEventKeys.end(), key) != kEventKeys.end();
  }

  bool Key() {
    const size_t length = KeyLength(at_);
    if (length == 0) return false;
    const std::string_view key = BareKey(at_, length);
    if (open_.size() == 1) {  // an event has each of its keys once
      const auto known = std::find(kEventKeys.begin(), kEventKeys.end(), key);
      const auto bit = uint32_t{1} << (known - kEventKeys.begin());
      if (known != kEventKeys.end() && (seen_ & bit) != 0) return false;
      seen_ |= bit;
    }
    out_ += '"';
    out_ += key;
    out_ += '"';
    at_ = SkipBlanks(at_ + length);
    Copy(1);  // the colon
    key_next_ = false;
    return true;
  }

  // Whether the quote at `at` ends the string that it stands in.
  bool EndsString(size_t at) const {
    size_t next = SkipBlanks(at + 1);
    if (next == text_.size()) return false;
    const char c = text_[next];
    const bool in_object = open_.back() == '{';
    if (c == '}' || c == ']') {
      if ((c == '}') != in_object) return false;
      next = SkipBlanks(next + 1);
      return next == text_.size() || text_[next] == ',' || text_[next] == '}' || text_[next] == ']';
    }
    if (c == '"' && open_.size() == 1) return IsEventKeyAt(next);  // a comma was lost
    if (c != ',') return false;
    next = SkipBlanks(next + 1);
    if (next == text_.size()) return false;
    if (in_object) return text_[next] == '}' || KeyLength(next) > 0;
    return text_[next] == '"' || text_[next] == '[' || text_[next] == '{' || text_[next] == '-' ||
           std::isdigit(static_cast<unsigned char>(text_[next])) != 0;
  }

  bool String() {
    if (open_.empty()) return false;
    Copy(1);
    while (at_ < text_.size()) {
      const char c = text_[at_];
      if (c == '\\' && at_ + 1 < text_.size()) {
        if (plain_backslash_ && text_[at_ + 1] == '"' && EndsString(at_ + 1)) {
          out_ += "\\\\\"";
          at_ += 2;
          return true;
        }
        Copy(2);
      } else if (c != '"') {
        Copy(1);
      } else if (EndsString(at_)) {
        Copy(1);
        return true;
      } else if (open_.size() == 1 && IsEventKeyAt(at_)) {
        return false;  // the string's own last quote was lost before this
      } else {
        out_ += "\\\"";
        ++at_;
      }
    }
    return false;
  }

  void Scalar() {
    while (at_ < text_.size() && text_[at_] != ',' && text_[at_] != '}' && text_[at_] != ']') {
      Copy(1);
    }
  }

  std::string_view text_;
  bool plain_backslash_;
  std::string& out_;
  size_t at_ = 0;
  std::vector<char> open_;  // brackets not closed yet
  bool key_next_ = false;
  uint32_t seen_ = 0;  // of kEventKeys
};

}  // namespace

bool RequoteJson(std::string_view event, std::string& requoted) {
  for (const bool plain_backslash : {false, true}) {
    requoted.clear();
    requoted.reserve(event.size() + 64);
    if (Requoter(event, plain_backslash, requoted).Run()) return true;
  }
  requoted.clear();
  return false;
}

}  // namespace tracedb
