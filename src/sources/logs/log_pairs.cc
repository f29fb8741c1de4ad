#include "sources/logs/log_pairs.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstring>

#include "sources/logs/log_line.h"
#include "tracedb/json/json_check.h"
#include "tracedb/json/json_text.h"

namespace tracedb {
namespace {

constexpr std::string_view kUnits[] = {
    "s",  "ms", "us", "ns",  "sec", "secs", "seconds", "min", "h", "%",      "B",  "KB",
    "MB", "GB", "TB", "KiB", "MiB", "GiB",  "J",       "W",   "C", "TFLOPs", "TF", "TFLOPS"};

bool IsDigit(char c) { return c >= '0' && c <= '9'; }
bool IsLetter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }

size_t DigitsAt(std::string_view text, size_t at) {
  size_t end = at;
  while (end < text.size() && IsDigit(text[end])) ++end;
  return end - at;
}

// How much of `text` is a number; 0: it begins with none.
size_t NumberLength(std::string_view text) {
  size_t at = !text.empty() && (text[0] == '-' || text[0] == '+') ? 1 : 0;
  const size_t whole = DigitsAt(text, at);
  at += whole;
  size_t fraction = 0;
  if (at < text.size() && text[at] == '.') {
    fraction = DigitsAt(text, at + 1);
    at += 1 + fraction;
  }
  if (whole + fraction == 0) return 0;
  if (at < text.size() && (text[at] == 'e' || text[at] == 'E')) {
    size_t power = at + 1;
    if (power < text.size() && (text[power] == '-' || text[power] == '+')) ++power;
    if (const size_t digits = DigitsAt(text, power); digits > 0) at = power + digits;
  }
  return at;
}

// An iteration's head within a field: the beginning of another line got in between.
bool HoldsHead(std::string_view field) {
  for (size_t slash = field.find('/'); slash != std::string_view::npos;
       slash = field.find('/', slash + 1)) {
    const size_t number =
        slash == 0 ? std::string_view::npos : field.find_last_not_of("0123456789", slash - 1);
    if (number == std::string_view::npos || number + 1 == slash) continue;
    if (TrimBlanks(field.substr(0, number + 1)).ends_with("iteration")) return true;
  }
  return false;
}

// Takes "name: value [unit]" off the field; false: it holds none.
bool TakePair(std::string_view& field, std::vector<LogPair>& pairs) {
  size_t sign = field.find(':');
  while (sign != std::string_view::npos && sign + 1 < field.size() && field[sign + 1] != ' ' &&
         !IsDigit(field[sign + 1]) && field[sign + 1] != '-') {
    sign = field.find(':', sign + 1);
  }
  if (const size_t equals = field.find('='); equals < sign) sign = equals;
  if (sign == std::string_view::npos || sign == 0) return false;
  LogPair pair;
  pair.name = TrimBlanks(field.substr(0, sign));
  std::string_view rest = TrimBlanks(field.substr(sign + 1));
  const std::string_view all = rest;
  if (pair.name.empty() || rest.empty()) return false;
  pair.value = TakeLogWord(rest);
  field = std::string_view();
  if (!rest.empty()) {
    std::string_view after = rest;
    const std::string_view word = TakeLogWord(after);
    const bool is_number = NumberLength(pair.value) == pair.value.size();
    const bool is_unit = std::find(std::begin(kUnits), std::end(kUnits), word) != std::end(kUnits);
    const bool is_pair_next = after.find(": ") != std::string_view::npos ||
                              (!is_unit && rest.find(": ") != std::string_view::npos);
    if (is_number && (is_unit || after.empty()) && (after.empty() || is_pair_next) &&
        word.back() != ':') {
      pair.unit = word;
      field = after;
    } else if (is_number && is_pair_next) {
      field = rest;
    } else {
      pair.value = all;  // words: "cosine with restarts", "[1e-4, 1e-4]"
    }
  }
  if (IsGlued(pair.value)) return false;
  pairs.push_back(pair);
  return true;
}

}  // namespace

PairsEnd ReadLogPairs(std::string_view& text, std::vector<LogPair>& pairs, bool& ends_in_bar) {
  ends_in_bar = false;
  while (!text.empty()) {
    const auto* const bar = static_cast<const char*>(std::memchr(text.data(), '|', text.size()));
    const size_t length = bar != nullptr ? static_cast<size_t>(bar - text.data()) : text.size();
    const std::string_view rest = text.substr(std::min(length + 1, text.size()));
    std::string_view field = TrimBlanks(text.substr(0, length));
    if (field.empty() && rest.empty()) {
      text = rest;
      return PairsEnd::kWhole;
    }
    const size_t whole = pairs.size();
    if (field.empty() || HoldsHead(field)) return PairsEnd::kHalf;
    while (!field.empty()) {
      if (pairs.size() == kPairsMax) return PairsEnd::kTooMany;
      if (!TakePair(field, pairs)) {
        pairs.resize(whole);
        return PairsEnd::kHalf;
      }
    }
    ends_in_bar = bar != nullptr;
    text = rest;
  }
  return PairsEnd::kWhole;
}

std::optional<LogHead> TakeLogHead(std::string_view& text) {
  constexpr std::string_view kWords[] = {"iteration",   "Iteration", "iter", "Iter",
                                         "global_step", "step",      "Step"};
  for (const std::string_view word : kWords) {
    if (!text.starts_with(word)) continue;
    std::string_view rest = TrimBlanks(text.substr(word.size()));
    const bool has_sign = rest.starts_with(':') || rest.starts_with('=');
    if (has_sign) rest = TrimBlanks(rest.substr(1));
    if (!has_sign && rest.size() + word.size() == text.size()) return std::nullopt;
    const std::optional<int64_t> iteration = TakeLogNumber(rest);
    if (!iteration) continue;
    LogHead head{*iteration, std::nullopt};
    rest = TrimBlanks(rest);
    if (rest.starts_with('/')) {
      rest = TrimBlanks(rest.substr(1));
      head.iterations = TakeLogNumber(rest);
      if (!head.iterations) return std::nullopt;
      rest = TrimBlanks(rest);
    } else if (!has_sign) {
      return std::nullopt;  // "iteration 3 took long" is prose
    }
    if (!rest.starts_with('|')) return std::nullopt;
    text = rest.substr(1);
    return head;
  }
  return std::nullopt;
}

std::optional<double> LeadingNumber(std::string_view text) {
  const size_t length = NumberLength(text);
  if (length == 0) return std::nullopt;
  const size_t plus = text[0] == '+' ? 1 : 0;
  double value = 0;
  const auto done = std::from_chars(text.data() + plus, text.data() + length, value);
  if (done.ec != std::errc()) return std::nullopt;
  return value;
}

bool HasLeadingNumber(std::string_view text) {
  constexpr size_t kAlwaysInRange = 300;  // digits without an exponent
  const size_t length = NumberLength(text);
  const bool is_plain = text.substr(0, length).find_first_of("eE") == std::string_view::npos;
  return is_plain && length < kAlwaysInRange ? length > 0 : LeadingNumber(text).has_value();
}

std::optional<double> WholeNumberOf(std::string_view text, int exponent) {
  if (exponent == 0 && !text.empty() && IsDigit(text.back())) return LeadingNumber(text);
  constexpr std::string_view kSuffixes = "KMBT";  // thousands each
  const size_t length = NumberLength(text);
  if (length + 1 == text.size()) {
    const size_t place = kSuffixes.find(text[length] == 'G' ? 'B' : text[length]);
    if (place != std::string_view::npos) exponent += 3 * (static_cast<int>(place) + 1);
  }
  std::string_view digits = text.substr(0, length);
  if (exponent == 0 || digits.find_first_of("eE") != std::string_view::npos) {
    const std::optional<double> number = LeadingNumber(text);
    return number && exponent != 0 ? *number * std::pow(10, exponent) : number;
  }
  return LeadingNumber(std::string(digits) + "e" + std::to_string(exponent));
}

bool IsIterationName(std::string_view name) {
  for (const std::string_view known :
       {"iteration", "Iteration", "iter", "Iter", "step", "Step", "global_step", "global step"}) {
    if (name == known) return true;
  }
  return false;
}

bool ReadSpacedPairs(std::string_view text, std::vector<LogPair>& pairs) {
  const char first = text.empty() ? ' ' : text.front();  // of IsIterationName()
  if (first != 'i' && first != 'I' && first != 's' && first != 'S' && first != 'g') return false;
  pairs.clear();
  bool has_loss = false;
  while (!text.empty()) {
    LogPair pair;
    pair.name = TakeLogWord(text);
    if (pair.name.size() < 2 || pair.name.back() != ':' || pairs.size() == kPairsMax) return false;
    pair.name.remove_suffix(1);
    if (pairs.empty() && !IsIterationName(pair.name)) return false;
    pair.value = TakeLogWord(text);
    if (!HasLeadingNumber(pair.value)) return false;
    has_loss |= pair.name.ends_with("loss");
    pairs.push_back(pair);
  }
  return has_loss && pairs.size() >= 3;
}

bool IsGlued(std::string_view value) {
  const size_t length = NumberLength(value);
  return length > 0 && length < value.size() && IsLetter(value[length]) &&
         value.find(' ') != std::string_view::npos;
}

void AppendJsonValue(std::string_view text, std::string& json) {
  if (IsJsonNumber(text)) {
    json += text;
  } else {
    AppendJsonString(json, text);
  }
}

}  // namespace tracedb
