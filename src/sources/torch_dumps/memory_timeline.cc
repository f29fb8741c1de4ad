#include "sources/torch_dumps/memory_timeline.h"

#include <algorithm>
#include <array>
#include <vector>

#include "sources/read/text_words.h"
#include "sources/torch_dumps/dump_row.h"
#include "sources/torch_dumps/dump_values.h"
#include "sources/values/json_tokens.h"
#include "tracedb/ingest/read/rank_in_name.h"

namespace tracedb {
namespace {

// As the profiler numbers them: parameter, optimizer state, input, temporary, activation, gradient,
// autograd detail, unknown. A row of a timeline has a zero before them.
constexpr size_t kCategories = 8;
constexpr size_t kEventFields = 4;  // time, action, bytes, category
constexpr int64_t kNsPerUs = 1000;
using Sizes = std::array<int64_t, kCategories>;

bool IsEvent(const std::vector<int64_t>& list) {
  return list.size() == kEventFields && list[0] >= -1 && list[1] >= 1 && list[1] <= 4 &&
         list[3] >= 0 && list[3] < int64_t{kCategories};
}

// Lists of whole numbers within a list, as far as `text` goes: "[[1, 2], [3".
class HeadLists {
 public:
  explicit HeadLists(std::string_view text) : text_(text) {}
  // False: the text ends, or is something else.
  bool Take(char wanted) {
    SkipBlanks();
    if (text_.empty() || text_.front() != wanted) return false;
    text_.remove_prefix(1);
    return true;
  }
  // The numbers up to the list's end, or the text's; false: something else is in it.
  bool TakeNumbers(std::vector<int64_t>& numbers) {
    numbers.clear();
    for (;;) {
      SkipBlanks();
      if (Take(']') || text_.empty()) return true;
      const size_t end = text_.find_first_not_of("-0123456789");
      if (end == 0) return false;
      const auto number = WholeNumber(text_.substr(0, end));
      if (!number.has_value()) return false;
      if (end == std::string_view::npos) return true;  // it may go on
      numbers.push_back(*number);
      text_.remove_prefix(end);
      if (!Take(',')) SkipBlanks();
    }
  }
  bool is_done() const { return text_.empty(); }

 private:
  void SkipBlanks() {
    while (!text_.empty() && (text_.front() == ' ' || text_.front() == '\n')) {
      text_.remove_prefix(1);
    }
  }
  std::string_view text_;
};

// Times that go up, as of a clock in microseconds since 1970.
bool AreTimes(const std::vector<int64_t>& numbers) {
  constexpr int64_t kEarliestUs = 1'000'000'000'000;
  for (size_t i = 0; i < numbers.size(); ++i) {
    if (numbers[i] < kEarliestUs || (i > 0 && numbers[i] < numbers[i - 1])) return false;
  }
  return !numbers.empty();
}

class TimelineReading {
 public:
  TimelineReading(SourceText& text, SourceRows& rows, DumpRow moment, DumpRow event)
      : bytes_(text),
        tokens_(bytes_),
        rows_(rows),
        moment_row_(std::move(moment)),
        event_row_(std::move(event)) {}

  Status Read() {
    TRACEDB_ASSIGN(began, Is(JsonToken::kBeginList));
    if (!began) return Break();
    TRACEDB_ASSIGN(listed, Is(JsonToken::kBeginList));
    if (!listed) return Break();
    std::vector<int64_t> first;
    TRACEDB_ASSIGN(whole, TakeNumbers(first));
    if (!whole) return Break();
    return IsEvent(first) && !AreTimes(first) ? ReadEvents(first) : ReadMoments(first);
  }

 private:
  Result<bool> Is(JsonToken wanted) {
    TRACEDB_ASSIGN(token, tokens_.Next());
    return token == wanted;
  }

  Status Break() {
    rows_.issues.Add("cut_short", tokens_.offset(), tokens_.text());
    return Done{};
  }

  // To the list's end; false: it breaks off.
  Result<bool> TakeNumbers(std::vector<int64_t>& numbers) {
    numbers.clear();
    for (;;) {
      TRACEDB_ASSIGN(token, tokens_.Next());
      if (token == JsonToken::kEndList) return true;
      if (token == JsonToken::kComma) continue;
      if (token != JsonToken::kNumber) return false;
      const auto number = WholeNumber(tokens_.text());
      if (!number.has_value()) return false;
      numbers.push_back(*number);
      if (numbers.size() * sizeof(int64_t) > rows_.options.memory_bytes / 2) {
        return Error{ErrorKind::kInput, "the times of the timeline do not fit in the memory",
                     "give --memory, some half of the file"};
      }
    }
  }

  // Null: there is no further list.
  Result<bool> TakeList(std::vector<int64_t>& numbers) {
    TRACEDB_ASSIGN(token, tokens_.Next());
    if (token == JsonToken::kEndList) return false;
    if (token == JsonToken::kComma) {
      TRACEDB_ASSIGN(next, tokens_.Next());
      token = next;
    }
    if (token == JsonToken::kBeginList) {
      TRACEDB_ASSIGN(whole, TakeNumbers(numbers));
      if (whole) return true;
    }
    TRACEDB_TRY(Break());
    return false;
  }

  Status AddMoment(std::optional<int64_t> at_ns, const Sizes& sizes) {
    moment_row_.Add(rows_.source_id).Add(++moments_).Add(at_ns);
    for (const int64_t bytes : sizes) moment_row_.Add(bytes);
    if (at_ns.has_value()) rows_.SawTime(*at_ns);
    ++rows_.rows;
    return moment_row_.Write();
  }

  Status ReadMoments(const std::vector<int64_t>& times_us) {
    TRACEDB_ASSIGN(comma, Is(JsonToken::kComma));
    if (!comma) return Break();
    TRACEDB_ASSIGN(listed, Is(JsonToken::kBeginList));
    if (!listed) return Break();
    std::vector<int64_t> row;
    for (size_t i = 0;; ++i) {
      TRACEDB_ASSIGN(more, TakeList(row));
      if (!more) {
        if (i < times_us.size() && rows_.issues.entries().empty()) {
          rows_.issues.Add("sizes_missing", tokens_.offset(), "", times_us.size() - i);
        }
        return Done{};
      }
      if (row.size() != kCategories + 1 || i >= times_us.size()) {
        rows_.issues.Add("sizes_unknown", tokens_.offset(), "");
        continue;
      }
      Sizes sizes{};
      std::copy(row.begin() + 1, row.end(), sizes.begin());
      TRACEDB_TRY(AddMoment(NsOfUs(times_us[i]), sizes));
    }
  }

  static std::optional<int64_t> NsOfUs(int64_t us) {
    if (us < 0 || us > INT64_MAX / kNsPerUs) return std::nullopt;
    return us * kNsPerUs;
  }

  // A moment is what holds after all events of one time.
  Status ReadEvents(std::vector<int64_t> event) {
    Sizes sizes{};
    std::optional<int64_t> at_ns;
    for (int64_t number = 1;; ++number) {
      if (IsEvent(event)) {
        const std::optional<int64_t> now = event[0] < 0 ? std::nullopt : std::optional(event[0]);
        if (number > 1 && now != at_ns) TRACEDB_TRY(AddMoment(at_ns, sizes));
        at_ns = now;
        int64_t& held = sizes[static_cast<size_t>(event[3])];
        held = static_cast<int64_t>(static_cast<uint64_t>(held) + static_cast<uint64_t>(event[2]));
        event_row_.Add(rows_.source_id).Add(number).Add(now).Add(event[1]).Add(event[2]);
        TRACEDB_TRY(event_row_.Add(event[3]).Write());
        ++rows_.rows;
      } else {
        rows_.issues.Add("event_unknown", tokens_.offset(), "");
      }
      TRACEDB_ASSIGN(more, TakeList(event));
      if (!more) return AddMoment(at_ns, sizes);
    }
  }

  SourceBytes bytes_;
  JsonTokens tokens_;
  SourceRows& rows_;
  DumpRow moment_row_, event_row_;
  int64_t moments_ = 0;
};

}  // namespace

// Strict: a file of other numbers must not be taken for one.
bool MemoryTimeline::Fits(const SourceHead& head) const {
  HeadLists lists(head.text);
  std::vector<int64_t> numbers;
  if (!lists.Take('[') || !lists.Take('[') || !lists.TakeNumbers(numbers)) return false;
  if (AreTimes(numbers)) {  // [[times], [[sizes], ...]]
    if (lists.is_done()) return !head.is_whole;
    return lists.Take(',') && lists.Take('[') && lists.Take('[') && lists.TakeNumbers(numbers) &&
           (numbers.size() == kCategories + 1 || lists.is_done());
  }
  constexpr int kEventsLooked = 100;  // [[time, action, bytes, category], ...]
  for (int i = 0; i < kEventsLooked; ++i) {
    if (lists.is_done()) return i > 1;  // the last one may be a part
    if (!IsEvent(numbers)) return false;
    if (!lists.Take(',')) return lists.Take(']');
    if (!lists.Take('[') || !lists.TakeNumbers(numbers)) return lists.is_done() && i > 0;
  }
  return true;
}

Status MemoryTimeline::Read(SourceText& text, SourceRows& rows) const {
  TRACEDB_ASSIGN(moment, DumpRow::Open(rows,
                                       "INSERT INTO _memory_category VALUES (?1, ?2, ?3, ?4, ?5, "
                                       "?6, ?7, ?8, ?9, ?10, ?11)"));
  TRACEDB_ASSIGN(event, DumpRow::Open(rows,
                                      "INSERT INTO _memory_category_event VALUES (?1, "
                                      "?2, ?3, ?4, ?5, ?6)"));
  rows.rank = RankInName(FileName(rows.path));
  TimelineReading reading(text, rows, std::move(moment), std::move(event));
  TRACEDB_TRY(reading.Read());
  if (rows.start_ns.has_value()) rows.time_source = "Unix time";
  return Done{};
}

}  // namespace tracedb
