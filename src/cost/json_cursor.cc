#include "cost/json_cursor.h"

#include <charconv>

namespace tracedb {

void JsonCursor::SkipBlanks() {
  while (at_ < text_.size() &&
         (text_[at_] == ' ' || text_[at_] == '\n' || text_[at_] == '\t' || text_[at_] == '\r')) {
    ++at_;
  }
}

bool JsonCursor::Sees(char wanted) {
  SkipBlanks();
  return at_ < text_.size() && text_[at_] == wanted;
}

bool JsonCursor::Take(char wanted) {
  if (!Sees(wanted)) return false;
  ++at_;
  return true;
}

bool JsonCursor::SkipString() {
  ++at_;
  for (; at_ < text_.size(); ++at_) {
    if (text_[at_] == '\\') {
      ++at_;
    } else if (text_[at_] == '"') {
      ++at_;
      return true;
    }
  }
  return false;
}

// Names of operators, types and numbers have nothing to unescape but a backslash or a quote.
bool JsonCursor::TakeString(std::string& text) {
  if (!Sees('"')) return false;
  const size_t from = at_ + 1;
  if (!SkipString() || at_ > text_.size()) return false;
  text.clear();
  for (size_t i = from; i + 1 < at_; ++i) {
    if (text_[i] == '\\' && i + 2 < at_) ++i;
    text += text_[i];
  }
  return true;
}

bool JsonCursor::TakeInteger(int64_t& number) {
  SkipBlanks();
  const char* begin = text_.data() + at_;
  const char* end = text_.data() + text_.size();
  const auto [stop, code] = std::from_chars(begin, end, number);
  if (code != std::errc() || stop == begin) return false;
  if (stop != end && (*stop == '.' || *stop == 'e' || *stop == 'E')) return false;
  at_ += static_cast<size_t>(stop - begin);
  return true;
}

bool JsonCursor::SkipValue() {
  SkipBlanks();
  size_t depth = 0;
  const size_t from = at_;
  while (at_ < text_.size()) {
    const char next = text_[at_];
    if (next == '"') {
      if (!SkipString()) return false;
    } else if (next == '[' || next == '{') {
      ++depth;
      ++at_;
    } else if (next == ']' || next == '}') {
      if (depth == 0) return at_ > from;
      --depth;
      ++at_;
    } else if (next == ',' && depth == 0) {
      return at_ > from;
    } else {
      ++at_;
      continue;
    }
    if (depth == 0) return true;
  }
  return false;
}

}  // namespace tracedb
