// Events that have been seen before but for their numbers. A trace repeats itself: thousands of
// events differ only in ts, dur and the values that args_columns.h takes out. A layout is such an
// event's text, in literal pieces with the varying numbers between them; an event that fits one
// is known without being parsed: same name, thread, args.
//
// What fits a layout is valid JSON because the event that it was learned from was, and becomes
// the very record that parsing it would have made. One belongs to one parser; bounded.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "ingest/parse/event_batch.h"
#include "ingest/parse/event_fields.h"
#include "ingest/parse/layout_pieces.h"

namespace tracedb {

class EventLayouts {
 public:
  explicit EventLayouts(size_t bytes_max) : bytes_max_(bytes_max) {}

  // If the event that begins at `at` fits a layout: appends its record to `batch` and returns
  // where it ends. Else null. `end` is the end of the text, with at least 32 bytes of anything
  // after it; `offset` is the event's in the stream.
  const char* Match(const char* at, const char* end, uint64_t offset, EventBatch& batch);

  // `fields` are those of `event`, with tokens that point into it (it is padded
  // like the text above), and `record` what was made of
  // it. Events that their layout alone does not determine are passed over.
  void Learn(std::string_view event, const EventFields& fields, const EventRecord& record);

  // The parser's numbers of texts begin anew.
  void Clear();

 private:
  static constexpr size_t kFollowers = 4;
  struct Layout {
    EventRecord record;
    uint32_t pieces_at;
    uint32_t values;                        // how many
    std::array<uint32_t, kFollowers> next;  // layouts that followed this one last, or kNone
  };
  // A varying token of an event, while its layout is made.
  struct Token {
    std::string_view text;
    LayoutField field;
    uint8_t place;
  };

  static constexpr uint32_t kNone = 0xffffffff;
  static constexpr size_t kVariantsMax = 16;  // layouts tried that begin alike

  const char* MatchOne(uint32_t number, const char* at, const char* end, uint64_t offset,
                       EventBatch& batch);
  static void AddTexts(const EventRecord& record, uint32_t values, FittedValues& fitted,
                       EventBatch& batch);
  void Followed(uint32_t number);
  bool AddToken(std::vector<Token>& tokens, std::string_view text, LayoutField field,
                uint8_t place);
  bool ValueTokens(const EventFields& fields, std::vector<Token>& tokens);

  size_t bytes_max_;
  size_t bytes_ = 0;
  std::vector<Layout> layouts_;
  std::vector<LayoutPiece> pieces_;
  std::string texts_;
  std::unordered_map<uint64_t, std::vector<uint32_t>> by_prefix_;  // most recent first
  uint32_t last_ = kNone;
};

}  // namespace tracedb
