// Where the next event begins after one that is broken, so that a lost quote or brace costs one
// event and not the rest of the file. Positions are of its opening brace; npos when there is none.
#pragma once

#include <cstddef>
#include <string_view>

namespace tracedb {

// `text` begins at an event that seems never to end. Finds a place that cannot be inside a string
// of valid JSON although the quotes say so: "},{" and then a key of an event. Linear.
size_t NextEventAfterLostQuote(std::string_view text);

// The same for the bracket that closes the array of events: after a brace, and with a key or the
// text's end after it.
size_t ArrayEndAfterLostQuote(std::string_view text);

// Where events seem to begin, whatever the quotes say: at a brace after a comma, with a phase
// among the object's keys. Asking for one after the other is linear in all.
class EventStarts {
 public:
  explicit EventStarts(std::string_view text)
      : text_(text), look_bytes_left_(kLooks * text.size()) {}

  // The first one after `at`; what is asked for must not fall.
  size_t NextAfter(size_t at);

 private:
  static constexpr size_t kLooks = 8;  // how often a byte is looked at for a phase, on average

  bool IsStart(size_t at);
  bool HasPhase(size_t at);

  std::string_view text_;
  size_t searched_ = 0;
  size_t found_ = 0;  // the last one found; npos when there are no more
  size_t look_bytes_left_;
};

// The last of them.
size_t LastEventWithPhase(std::string_view text);

// The bracket that closes the array of events where a brace was lost in front of it.
size_t ArrayEndAfterLostBrace(std::string_view text);

// Whether `text`, which stands between the last event of an array and a closing bracket, lets that
// bracket be the array's own: blanks, commas and values that are no objects. Else a quote or a
// brace was lost, and the bracket may be part of a name.
bool MayEndArray(std::string_view text);

}  // namespace tracedb
