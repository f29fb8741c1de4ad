#include "sources/inspector/json_leaves.h"

#include <algorithm>

#include "tracedb/json/json_text.h"

namespace tracedb {

size_t JsonDepth::EndIn(std::string_view text) {
  for (size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (in_string_) {
      in_string_ = is_escaped_ || c != '"';
      is_escaped_ = c == '\\' && !is_escaped_;
    } else if (c == '"') {
      in_string_ = true;
    } else if (c == '{' || c == '[') {
      ++depth_;
    } else if (c == '}' || c == ']') {
      if (depth_ > 0 && --depth_ == 0) return i + 1;
    }
  }
  return std::string_view::npos;
}

void JsonLeaves::SkipBlanks() {
  const auto blank = [](char c) { return IsJsonBlank(c); };
  rest_.remove_prefix(
      static_cast<size_t>(std::find_if_not(rest_.begin(), rest_.end(), blank) - rest_.begin()));
}

bool JsonLeaves::String(std::string_view& inside) {
  size_t end = 1;
  while (end < rest_.size() && rest_[end] != '"') end += rest_[end] == '\\' ? 2 : 1;
  if (end >= rest_.size()) return false;
  inside = rest_.substr(1, end - 1);
  rest_.remove_prefix(end + 1);
  return true;
}

bool JsonLeaves::Open(bool is_object) {
  if (depth_ == kDepthMax) return false;
  rest_.remove_prefix(1);
  levels_[depth_++] = {is_object, path_.size()};
  return true;
}

bool JsonLeaves::Key() {
  std::string_view key;
  if (rest_.starts_with('"')) {
    if (!String(key)) return false;
  } else {
    key = rest_.substr(0, rest_.find_first_of(" \t\r\n:,{}[]"));
    rest_.remove_prefix(key.size());
  }
  path_.resize(levels_[depth_ - 1].path_bytes);
  if (!path_.empty()) path_ += '.';
  path_ += key;
  SkipBlanks();
  if (!rest_.starts_with(':')) return false;
  rest_.remove_prefix(1);
  SkipBlanks();
  return true;
}

bool JsonLeaves::Value(const std::function<void(const JsonLeaf&)>& leaf) {
  JsonLeaf found{path_, {}, rest_.starts_with('"')};
  if (found.is_string) {
    if (!String(found.token)) return false;
  } else {
    found.token = rest_.substr(0, rest_.find_first_of(" \t\r\n,{}[]\":"));
    if (found.token.empty()) return false;
    rest_.remove_prefix(found.token.size());
  }
  leaf(found);
  return true;
}

bool JsonLeaves::Read(std::string_view object, const std::function<void(const JsonLeaf&)>& leaf) {
  rest_ = object;
  path_.clear();
  depth_ = 0;
  SkipBlanks();
  if (!rest_.starts_with('{') || !Open(true)) return false;
  for (bool wants_comma = false; depth_ > 0;) {
    SkipBlanks();
    if (rest_.empty()) return false;
    const Level level = levels_[depth_ - 1];
    const char c = rest_[0];
    if (c == '}' || c == ']') {
      if (level.is_object != (c == '}')) return false;
      rest_.remove_prefix(1);
      path_.resize(level.path_bytes);
      --depth_;
      wants_comma = true;
      continue;
    }
    if (wants_comma) {
      if (c != ',') return false;
      rest_.remove_prefix(1);
      wants_comma = false;
      continue;
    }
    if (level.is_object && !Key()) return false;
    const bool is_container = rest_.starts_with('{') || rest_.starts_with('[');
    if (is_container) {
      if (!Open(rest_[0] == '{')) return false;
      continue;
    }
    if (!Value(leaf)) return false;
    wants_comma = true;
  }
  return true;
}

}  // namespace tracedb
