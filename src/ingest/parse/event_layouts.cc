#include "ingest/parse/event_layouts.h"

#include <algorithm>
#include <bit>
#include <cstring>

#include "ingest/parse/quick_digits.h"
#include "tracedb/json/json_check.h"
#include "tracedb/json/json_text.h"
#include "tracedb/memory/text_dictionary.h"

namespace tracedb {
namespace {

bool IsDigit(char c) { return static_cast<unsigned char>(c - '0') < 10; }

// Decimal microseconds of the plain form to ns: up to 15 digits and 3 decimals, as all traces
// have; null for anything else.
[[gnu::always_inline]] inline const char* ReadTime(const char* at, const char* end, int64_t& ns) {
  const bool negative = *at == '-';
  if (negative) ++at;
  const QuickDigits whole = ReadDigits(at);
  if (whole.count == 0 || whole.count > 15) return nullptr;
  at += whole.count;
  uint64_t value = whole.value * 1000;
  if (*at == '.') {
    const QuickDigits decimals = ReadThousandths(++at);
    if (decimals.count == 0) return nullptr;
    value += decimals.value;
    at += decimals.count;
  }
  ns = negative ? -static_cast<int64_t>(value) : static_cast<int64_t>(value);
  return at <= end ? at : nullptr;
}

// An integer as it would be written again; null for anything else.
[[gnu::always_inline]] inline const char* ReadInt(const char* at, const char* end, int64_t& value) {
  const bool negative = *at == '-';
  if (negative) ++at;
  const QuickDigits read = ReadDigits(at);
  if (read.count == 0 || read.count > 18) return nullptr;
  if (*at == '0' && (read.count > 1 || negative)) return nullptr;
  value = negative ? -static_cast<int64_t>(read.value) : static_cast<int64_t>(read.value);
  at += read.count;
  return at <= end ? at : nullptr;
}

// A number that is no such integer, long enough to have a column.
const char* ReadFraction(const char* at, const char* end) {
  const char* const begin = at;
  bool whole = true;
  while (at != end && (IsDigit(*at) || std::strchr("+-.eE", *at) != nullptr) && *at != '\0') {
    if (!IsDigit(*at) && (at != begin || *at != '-')) whole = false;
    ++at;
  }
  const std::string_view token(begin, static_cast<size_t>(at - begin));
  return !whole && token.size() > 3 && IsJsonNumber(token) ? at : nullptr;
}

const char* ReadPointer(const char* at, const char* end) {
  const char* const begin = at;
  if (end - at < 5 || at[0] != '0' || at[1] != 'x') return nullptr;
  for (at += 2; at != end && std::isxdigit(static_cast<unsigned char>(*at)) != 0;) ++at;
  return at - begin >= 5 ? at : nullptr;
}

// A hash of the event's text up to its first number: with luck its name is before that.
uint64_t PrefixHash(const char* begin, const char* end) {
  const char* at = begin;
  while (at != end) {
    const char c = *at++;
    if (c == '"') {
      // To the closing quote; one after a backslash only makes the prefix another one.
      const auto* quote =
          static_cast<const char*>(std::memchr(at, '"', static_cast<size_t>(end - at)));
      at = quote == nullptr ? end : quote + 1;
    } else if (c == ':') {
      while (at != end && IsJsonBlank(*at)) ++at;
      if (at != end && (IsDigit(*at) || *at == '-')) break;
    }
  }
  return HashText({begin, static_cast<size_t>(at - begin)});
}

}  // namespace

const char* EventLayouts::Match(const char* at, const char* end, uint64_t offset,
                                EventBatch& batch) {
  if (last_ != kNone) {
    for (const uint32_t next : layouts_[last_].next) {
      if (next == kNone) continue;
      const char* const after = MatchOne(next, at, end, offset, batch);
      if (after == nullptr) continue;
      Followed(next);
      return after;
    }
  }
  const auto variants = by_prefix_.find(PrefixHash(at, end));
  if (variants == by_prefix_.end()) return nullptr;
  std::vector<uint32_t>& numbers = variants->second;
  for (size_t i = 0; i < numbers.size(); ++i) {
    const char* const after = MatchOne(numbers[i], at, end, offset, batch);
    if (after == nullptr) continue;
    const uint32_t number = numbers[i];
    std::rotate(numbers.begin(), numbers.begin() + static_cast<ptrdiff_t>(i),
                numbers.begin() + static_cast<ptrdiff_t>(i) + 1);
    Followed(number);
    return after;
  }
  return nullptr;
}

void EventLayouts::Followed(uint32_t number) {
  if (last_ != kNone) {
    auto& next = layouts_[last_].next;
    // The most recent one comes first; what was there moves back to where it stood.
    uint32_t moving = number;
    for (uint32_t& at : next) {
      std::swap(at, moving);
      if (moving == number) break;
    }
  }
  last_ = number;
}

inline bool EventLayouts::Fits(const Piece& piece, const char* at, const char* end) const {
  return static_cast<size_t>(end - at) >= piece.literal_size &&
         SameBytes(at, texts_.data() + piece.literal_at, piece.literal_size);
}

const char* EventLayouts::MatchOne(uint32_t number, const char* at, const char* end,
                                   uint64_t offset, EventBatch& batch) {
  struct Text {  // not initialised: few events have any
    const char* at;
    size_t size;
  };
  const Layout& layout = layouts_[number];
  const Piece* piece = &pieces_[layout.pieces_at];
  if (!Fits(*piece, at, end)) return nullptr;
  EventRecord record = layout.record;
  std::array<int64_t, kArgsColumns> values;
  std::array<Text, kArgsColumns> texts;
  for (;;) {
    at += piece->literal_size;
    const char* const token = at;
    switch (piece->field) {
      case Field::kTs:
        at = ReadTime(at, end, record.ts_ns);
        break;
      case Field::kDur:
        at = ReadTime(at, end, record.dur_ns);
        break;
      case Field::kInt:
        at = ReadInt(at, end, values[piece->place]);
        break;
      case Field::kLargeInt:
        at = ReadInt(at, end, values[piece->place]);
        if (at != nullptr && IsFewValued(values[piece->place])) return nullptr;
        break;
      case Field::kFraction:
        at = ReadFraction(at, end);
        break;
      case Field::kPointer:
        at = ReadPointer(at, end);
        break;
      case Field::kEnd: {
        record.offset = offset;
        record.values_at = static_cast<uint32_t>(batch.values.size());
        for (uint32_t i = 0, left = record.columns_mask; i < layout.values; ++i, left &= left - 1) {
          if ((record.text_mask & left & ~(left - 1)) != 0) {
            values[i] = static_cast<int64_t>(uint64_t{batch.texts.size()} << 32 | texts[i].size);
            batch.texts.append(texts[i].at, texts[i].size);
          }
        }
        batch.values.insert(batch.values.end(), values.begin(), values.begin() + layout.values);
        batch.events.push_back(record);
        return at;
      }
    }
    if (at == nullptr) return nullptr;
    if (piece->field >= Field::kFraction) {
      texts[piece->place] = {token, static_cast<size_t>(at - token)};
    }
    if (!Fits(*++piece, at, end)) return nullptr;
  }
}

bool EventLayouts::AddToken(std::vector<Token>& tokens, std::string_view text, Field field,
                            uint8_t place) {
  const char* const end = text.data() + text.size();
  int64_t value = 0;
  const char* read = nullptr;
  switch (field) {
    case Field::kTs:
    case Field::kDur:
      read = ReadTime(text.data(), end, value);
      break;
    case Field::kInt:
    case Field::kLargeInt:
      read = ReadInt(text.data(), end, value);
      break;
    case Field::kFraction:
      read = ReadFraction(text.data(), end);
      break;
    case Field::kPointer:
      read = ReadPointer(text.data(), end);
      break;
    case Field::kEnd:
      break;
  }
  if (read != end) return false;
  tokens.push_back({text, field, place});
  return true;
}

bool EventLayouts::ValueTokens(const EventFields& fields, std::vector<Token>& tokens) {
  uint8_t place = 0;
  for (uint32_t left = fields.columns_mask; left != 0; left &= left - 1, ++place) {
    const auto column = static_cast<size_t>(std::countr_zero(left));
    const std::string_view text = fields.tokens[column];
    const bool spare = column >= static_cast<size_t>(ArgsColumn::kValue1);
    Field field = spare ? Field::kLargeInt : Field::kInt;
    if ((fields.text_mask >> column & 1) != 0) {
      if (!spare) return false;  // an id that is a text
      field = text.starts_with("0x") ? Field::kPointer : Field::kFraction;
    }
    if (!AddToken(tokens, text, field, place)) return false;
  }
  return true;
}

void EventLayouts::Learn(std::string_view event, const EventFields& fields,
                         const EventRecord& record) {
  constexpr std::string_view kPhases = "XiIstfCM";
  last_ = kNone;  // whatever came before is not followed by a known layout
  if (kPhases.find(record.phase) == std::string_view::npos) return;
  std::vector<Token> tokens;
  if (!fields.ts.empty() && !AddToken(tokens, fields.ts, Field::kTs, 0)) return;
  if (!fields.dur.empty() && !AddToken(tokens, fields.dur, Field::kDur, 0)) return;
  if (!ValueTokens(fields, tokens)) return;
  std::sort(tokens.begin(), tokens.end(),
            [](const Token& a, const Token& b) { return a.text.data() < b.text.data(); });
  if (bytes_ > bytes_max_) Clear();
  const char* const event_end = event.data() + event.size();
  const uint64_t prefix = PrefixHash(event.data(), event_end);
  const auto number = static_cast<uint32_t>(layouts_.size());
  layouts_.push_back({record,
                      static_cast<uint32_t>(pieces_.size()),
                      static_cast<uint32_t>(std::popcount(fields.columns_mask)),
                      {kNone, kNone, kNone, kNone}});
  const char* from = event.data();
  const auto add_piece = [&](const char* end, Field field, uint8_t place) {
    const auto size = static_cast<uint32_t>(end - from);
    pieces_.push_back({static_cast<uint32_t>(texts_.size()), size, field, place});
    texts_.append(from, size);
  };
  for (const Token& token : tokens) {
    add_piece(token.text.data(), token.field, token.place);
    from = token.text.data() + token.text.size();
  }
  add_piece(event_end, Field::kEnd, 0);
  texts_.append(kPaddingBytes, '\0');
  std::vector<uint32_t>& variants = by_prefix_[prefix];
  variants.insert(variants.begin(), number);
  if (variants.size() > kVariantsMax) variants.pop_back();
  bytes_ += sizeof(Layout) + (tokens.size() + 1) * sizeof(Piece) + event.size() + 64;
  Followed(number);
}

void EventLayouts::Clear() {
  bytes_ = 0;
  layouts_.clear();
  pieces_.clear();
  texts_.clear();
  by_prefix_.clear();
  last_ = kNone;
}

}  // namespace tracedb
