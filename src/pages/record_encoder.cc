#include "tracedb/pages/record_encoder.h"

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <optional>
#include <string>
#include <utility>

namespace tracedb {
namespace {

constexpr size_t kTypesBytes = 256;  // to begin with
constexpr size_t kBodyBytes = 1024;

constexpr std::string_view kBlanks = " \t\n\v\f\r";
constexpr std::string_view kDigits = "0123456789";

// Digits from `at` on; moves it after them.
size_t CountDigits(std::string_view text, size_t& at) {
  const size_t begin = at;
  at = std::min(text.find_first_not_of(kDigits, at), text.size());
  return at - begin;
}

// The number that `text` is as a whole in SQLite's eyes: blanks around it and a sign may be there,
// words such as "inf" are none. `whole` is without a point and an exponent.
struct NumberText {
  std::string_view digits;  // for from_chars, which takes no plus sign
  bool whole = true;
};

std::optional<NumberText> FindNumber(std::string_view text) {
  const size_t begin = text.find_first_not_of(kBlanks);
  if (begin == std::string_view::npos) return std::nullopt;
  text = text.substr(begin, text.find_last_not_of(kBlanks) + 1 - begin);
  NumberText number;
  if (text.starts_with('+')) {
    text.remove_prefix(1);
    if (text.starts_with('-')) return std::nullopt;
  }
  number.digits = text;
  size_t at = text.starts_with('-') ? 1 : 0;
  size_t digits = CountDigits(text, at);
  if (at < text.size() && text[at] == '.') {
    number.whole = false;
    digits += CountDigits(text, ++at);
  }
  if (digits == 0) return std::nullopt;
  if (at < text.size() && (text[at] == 'e' || text[at] == 'E')) {
    number.whole = false;
    ++at;
    if (at < text.size() && (text[at] == '+' || text[at] == '-')) ++at;
    if (CountDigits(text, at) == 0) return std::nullopt;
  }
  if (at != text.size()) return std::nullopt;
  return number;
}

}  // namespace

void RecordEncoder::NumberOrText(std::string_view text) {
  const auto number = FindNumber(text);
  if (!number.has_value()) return Text(text);
  const char* const begin = number->digits.data();
  const char* const end = begin + number->digits.size();
  int64_t whole = 0;
  if (number->whole && std::from_chars(begin, end, whole).ec == std::errc()) return Int(whole);
  double real = 0;
  if (std::from_chars(begin, end, real).ec != std::errc()) {  // infinite, or as good as 0
    real = std::strtod(std::string(number->digits).c_str(), nullptr);
  }
  constexpr double kWholeMax = 9.0e18;  // beyond, a double is no int64_t
  if (real > -kWholeMax && real < kWholeMax &&
      real == static_cast<double>(static_cast<int64_t>(real))) {
    return Int(static_cast<int64_t>(real));
  }
  Real(real);
}

RecordEncoder::RecordEncoder() : body_room_before_(kShortTypesBytesMax + 1 + kCopyBytes) {
  types_ = std::make_unique<uint8_t[]>(kTypesRoomBefore + kTypesBytes);
  types_limit_ = types_start() + kTypesBytes;
  body_ = std::make_unique_for_overwrite<uint8_t[]>(body_room_before_ + kBodyBytes);
  body_limit_ = body_start() + kBodyBytes;
  Reset();
}

void RecordEncoder::GrowTypes() {
  const auto used = static_cast<size_t>(types_end_ - types_start());
  const size_t capacity = 2 * static_cast<size_t>(types_limit_ - types_start());
  auto grown = std::make_unique<uint8_t[]>(kTypesRoomBefore + capacity);
  std::memcpy(grown.get() + kTypesRoomBefore, types_start(), used);
  types_ = std::move(grown);
  types_end_ = types_start() + used;
  types_limit_ = types_start() + capacity;
}

void RecordEncoder::GrowBody(size_t bytes) {
  const auto used = static_cast<size_t>(body_end_ - body_start());
  const auto old_capacity = static_cast<size_t>(body_limit_ - body_start());
  const size_t capacity = std::max(2 * old_capacity, used + bytes);
  // Not zeroed: a text of megabytes comes next and overwrites it.
  auto grown = std::make_unique_for_overwrite<uint8_t[]>(body_room_before_ + capacity);
  std::memcpy(grown.get() + body_room_before_, body_start(), used);
  body_ = std::move(grown);
  body_end_ = body_start() + used;
  body_limit_ = body_start() + capacity;
}

std::span<const uint8_t> RecordEncoder::FinishLongHeader(size_t types_bytes) {
  // The header's size counts its own bytes, which can make that size one byte longer.
  size_t header_bytes = types_bytes + 1;
  while (types_bytes + VarintBytes(header_bytes) != header_bytes) {
    header_bytes = types_bytes + VarintBytes(header_bytes);
  }
  if (header_bytes > body_room_before_) {
    const auto used = static_cast<size_t>(body_end_ - body_start());
    const auto capacity = static_cast<size_t>(body_limit_ - body_start());
    const size_t room_before = 2 * header_bytes;
    auto moved = std::make_unique_for_overwrite<uint8_t[]>(room_before + capacity);
    std::memcpy(moved.get() + room_before, body_start(), used);
    body_ = std::move(moved);
    body_room_before_ = room_before;
    body_end_ = body_start() + used;
    body_limit_ = body_start() + capacity;
  }
  uint8_t* record = body_start() - header_bytes;
  uint8_t* types = PutVarint(record, header_bytes);
  std::memcpy(types, types_start(), types_bytes);
  return {record, body_end_};
}

}  // namespace tracedb
