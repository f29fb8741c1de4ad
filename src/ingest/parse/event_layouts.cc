#include "ingest/parse/event_layouts.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <string>

#include "tracedb/json/json_check.h"
#include "tracedb/json/json_text.h"
#include "tracedb/memory/text_dictionary.h"

namespace tracedb {
namespace {

bool IsDigit(char c) { return static_cast<unsigned char>(c - '0') < 10; }

// Whether a text of nothing but digits and what goes with them begins here: a time in quotes.
bool IsQuotedNumber(const char* at, const char* end) {
  if (end - at < 3 || *at != '"' || !IsDigit(at[1])) return false;
  for (++at; at != end && (IsDigit(*at) || *at == '.'); ++at) {
  }
  return at != end && *at == '"';
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
      if (at != end && (IsDigit(*at) || *at == '-' || IsQuotedNumber(at, end))) break;
    }
  }
  return HashText({begin, static_cast<size_t>(at - begin)});
}

// Whether the token, which stands in a padded text, is one that the field reads.
bool FitsToken(std::string_view text, LayoutField field) {
  static const FitLayout fit = WidestFit();
  const LayoutPiece pieces[] = {{0, 0, field, 0}, {0, 0, LayoutField::kEnd, 0}};
  FittedValues fitted;
  const char* const end = text.data() + text.size();
  return fit(pieces, text.data(), text.data(), end, fitted) == end;
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

const char* EventLayouts::MatchOne(uint32_t number, const char* at, const char* end,
                                   uint64_t offset, EventBatch& batch) {
  static const FitLayout fit = WidestFit();
  const Layout& layout = layouts_[number];
  FittedValues fitted;
  const char* const event_end = fit(&pieces_[layout.pieces_at], texts_.data(), at, end, fitted);
  if (event_end == nullptr) return nullptr;
  if (layout.record.has_ts && layout.record.has_dur) {
    int64_t end_ns;
    if (__builtin_add_overflow(fitted.ts_ns, fitted.dur_ns, &end_ns)) return nullptr;
  }
  batch.events.push_back(layout.record);
  EventRecord& record = batch.events.back();
  if (record.has_ts) record.ts_ns = fitted.ts_ns;
  if (record.has_dur) record.dur_ns = fitted.dur_ns;
  record.offset = offset;
  record.values_at = static_cast<uint32_t>(batch.values.size());
  if (record.text_mask != 0) AddTexts(record, layout.values, fitted, batch);
  batch.values.insert(batch.values.end(), fitted.values.begin(),
                      fitted.values.begin() + layout.values);
  return event_end;
}

// Values that are texts: to the batch's texts, and where they are there to the values.
void EventLayouts::AddTexts(const EventRecord& record, uint32_t values, FittedValues& fitted,
                            EventBatch& batch) {
  for (uint32_t i = 0, left = record.columns_mask; i < values; ++i, left &= left - 1) {
    if ((record.text_mask & left & ~(left - 1)) == 0) continue;
    const FittedValues::Text& text = fitted.texts[i];
    fitted.values[i] = static_cast<int64_t>(uint64_t{batch.texts.size()} << 32 | text.size);
    batch.texts.append(text.at, text.size);
  }
}

bool EventLayouts::AddToken(std::vector<Token>& tokens, std::string_view text, LayoutField field,
                            uint8_t place) {
  if (!FitsToken(text, field)) return false;
  tokens.push_back({text, field, place});
  return true;
}

bool EventLayouts::ValueTokens(const EventFields& fields, std::vector<Token>& tokens) {
  uint8_t place = 0;
  for (uint32_t left = fields.columns_mask; left != 0; left &= left - 1, ++place) {
    const auto column = static_cast<size_t>(std::countr_zero(left));
    const std::string_view text = fields.tokens[column];
    const bool spare = column >= static_cast<size_t>(ArgsColumn::kValue1);
    LayoutField field = spare ? LayoutField::kLargeInt : LayoutField::kInt;
    if ((fields.text_mask >> column & 1) != 0) {
      if (!spare) return false;  // an id that is a text
      field = text.starts_with("0x") ? LayoutField::kPointer : LayoutField::kFraction;
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
  // A time may be a text; its quotes are the same in all that are like it.
  if (record.has_ts && !AddToken(tokens, Unquoted(fields.ts), LayoutField::kTs, 0)) return;
  if (record.has_dur && !AddToken(tokens, Unquoted(fields.dur), LayoutField::kDur, 0)) return;
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
  const auto add_piece = [&](const char* end, LayoutField field, uint8_t place) {
    const auto size = static_cast<uint32_t>(end - from);
    pieces_.push_back({static_cast<uint32_t>(texts_.size()), size, field, place});
    texts_.append(from, size);
  };
  for (const Token& token : tokens) {
    add_piece(token.text.data(), token.field, token.place);
    from = token.text.data() + token.text.size();
  }
  add_piece(event_end, LayoutField::kEnd, 0);
  texts_.append(kLayoutPaddingBytes, '\0');
  std::vector<uint32_t>& variants = by_prefix_[prefix];
  variants.insert(variants.begin(), number);
  if (variants.size() > kVariantsMax) variants.pop_back();
  bytes_ += sizeof(Layout) + (tokens.size() + 1) * sizeof(LayoutPiece) + event.size() + 64;
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
