#include "sources/settings/shell_values.h"

#include <charconv>
#include <cstdint>
#include <limits>

namespace tracedb {
namespace {

constexpr size_t kValueBytesMax = 64 << 10;

bool IsNameChar(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

std::optional<int64_t> Whole(std::string_view text) {
  int64_t value = 0;
  const auto done = std::from_chars(text.data(), text.data() + text.size(), value);
  if (done.ec != std::errc() || done.ptr != text.data() + text.size()) return std::nullopt;
  return value;
}

// Integers with + - * / % and brackets, as deep as kDepthMax; an empty answer: it cannot be done.
class Arithmetic {
 public:
  Arithmetic(std::string_view text, const ShellVariables& variables)
      : text_(text), variables_(variables) {}
  std::optional<int64_t> Value() {
    const std::optional<int64_t> value = Sum(0);
    SkipBlanks();
    return at_ == text_.size() ? value : std::nullopt;
  }

 private:
  static constexpr int kDepthMax = 32;

  void SkipBlanks() {
    while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\t')) ++at_;
  }
  char Next() {
    SkipBlanks();
    return at_ < text_.size() ? text_[at_] : '\0';
  }
  std::optional<int64_t> Sum(int depth) {
    std::optional<int64_t> left = Product(depth);
    while (left && (Next() == '+' || Next() == '-')) {
      const char sign = text_[at_++];
      const std::optional<int64_t> right = Product(depth);
      int64_t value = 0;
      if (!right || (sign == '+' ? __builtin_add_overflow(*left, *right, &value)
                                 : __builtin_sub_overflow(*left, *right, &value))) {
        return std::nullopt;
      }
      left = value;
    }
    return left;
  }
  std::optional<int64_t> Product(int depth) {
    std::optional<int64_t> left = Factor(depth);
    while (left && (Next() == '*' || Next() == '/' || Next() == '%')) {
      const char sign = text_[at_++];
      const std::optional<int64_t> right = Factor(depth);
      if (!right) return std::nullopt;
      int64_t value = 0;
      if (sign == '*') {
        if (__builtin_mul_overflow(*left, *right, &value)) return std::nullopt;
      } else {
        const bool is_overflow = *left == std::numeric_limits<int64_t>::min() && *right == -1;
        if (*right == 0 || is_overflow) return std::nullopt;
        value = sign == '/' ? *left / *right : *left % *right;
      }
      left = value;
    }
    return left;
  }
  std::optional<int64_t> Factor(int depth) {
    if (depth > kDepthMax) return std::nullopt;
    if (Next() == '(') {
      ++at_;
      const std::optional<int64_t> inner = Sum(depth + 1);
      if (Next() != ')') return std::nullopt;
      ++at_;
      return inner;
    }
    if (Next() == '-') {
      ++at_;
      const std::optional<int64_t> value = Factor(depth + 1);
      if (!value || *value == std::numeric_limits<int64_t>::min()) return std::nullopt;
      return -*value;
    }
    const bool is_bracketed = text_.substr(at_).starts_with("${");
    at_ += is_bracketed ? 2 : Next() == '$' ? 1 : 0;
    const size_t begin = at_;
    while (at_ < text_.size() && IsNameChar(text_[at_])) ++at_;
    const std::string_view word = text_.substr(begin, at_ - begin);
    if (is_bracketed && Next() != '}') return std::nullopt;
    if (is_bracketed) ++at_;
    if (word.empty()) return std::nullopt;
    if (const std::optional<int64_t> number = Whole(word)) return number;
    const auto known = variables_.find(word);
    return known == variables_.end() ? std::nullopt : Whole(known->second);
  }

  std::string_view text_;
  const ShellVariables& variables_;
  size_t at_ = 0;
};

// What a `$` at `at` stands for, added to `value`; false: not to be told.
bool Expand(std::string_view text, size_t& at, const ShellVariables& variables,
            std::string& value) {
  if (text.substr(at).starts_with("$((")) {
    const size_t end = text.find("))", at);
    if (end == std::string_view::npos) return false;
    const std::optional<int64_t> number =
        Arithmetic(text.substr(at + 3, end - at - 3), variables).Value();
    if (!number) return false;
    value += std::to_string(*number);
    at = end + 2;
    return true;
  }
  const bool is_bracketed = text.substr(at).starts_with("${");
  size_t end = at + (is_bracketed ? 2 : 1);
  const size_t begin = end;
  while (end < text.size() && IsNameChar(text[end])) ++end;
  const auto known = variables.find(text.substr(begin, end - begin));
  if (end == begin || known == variables.end()) return false;
  if (is_bracketed && (end == text.size() || text[end] != '}')) return false;
  value += known->second;
  at = end + (is_bracketed ? 1 : 0);
  return value.size() <= kValueBytesMax;
}

}  // namespace

std::string_view ShellWord(std::string_view text) {
  char quote = '\0';
  int brackets = 0;
  for (size_t at = 0; at < text.size(); ++at) {
    const char c = text[at];
    if (quote != '\0') {
      if (c == quote) quote = '\0';
    } else if (c == '\'' || c == '"') {
      quote = c;
    } else if (c == '(') {
      ++brackets;
    } else if (c == ')') {
      --brackets;
    } else if ((c == ' ' || c == '\t' || c == ';') && brackets <= 0) {
      return text.substr(0, at);
    }
  }
  return text;
}

std::optional<std::string> ShellValue(std::string_view written, const ShellVariables& variables) {
  std::string value;
  char quote = '\0';
  for (size_t at = 0; at < written.size();) {
    const char c = written[at];
    if (c == quote) {
      quote = '\0';
      ++at;
    } else if (quote == '\0' && (c == '\'' || c == '"')) {
      quote = c;
      ++at;
    } else if (c == '`' && quote != '\'') {
      return std::nullopt;
    } else if (c == '$' && quote != '\'') {
      if (!Expand(written, at, variables, value)) return std::nullopt;
    } else {
      value += c;
      ++at;
    }
  }
  if (quote != '\0') return std::nullopt;
  return value;
}

}  // namespace tracedb
