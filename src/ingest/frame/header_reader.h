// The part of a trace outside the event array: the keys of the top-level object, wherever they
// stand. A byte at a time, cut anywhere; keeps key and raw value text within a bound.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tracedb/schema/event_issues.h"

namespace tracedb {

class HeaderReader {
 public:
  using Entries = std::vector<std::pair<std::string, std::string>>;  // key, raw JSON value

  HeaderReader(size_t bytes_max, EventIssues& issues) : bytes_max_(bytes_max), issues_(issues) {}

  // Reads from `text` at stream position `offset` until the text is used up or an event array
  // begins. Returns how many bytes were used.
  size_t Read(std::string_view text, uint64_t offset);
  // The event array has ended: goes on after it.
  void EndEvents();
  // When an event array began in what seemed to be after the last one, with an event: how many
  // bytes of the event have been used, from its brace on. Else 0.
  size_t resumed_bytes() const { return resumed_bytes_; }
  // The text is over: tells what can only be told then.
  void Finish();

  bool in_events() const { return state_ == State::kEvents; }
  bool array_form() const { return array_form_; }  // the file is a bare array of events
  bool saw_events() const { return event_arrays_ > 0; }
  bool finished() const { return state_ == State::kDone; }  // the top level is closed
  bool is_json() const { return state_ != State::kNotJson; }
  char refused() const { return refused_; }  // the byte that told that it is none
  const Entries& entries() const { return entries_; }

 private:
  enum class State {
    kStart,
    kKey,
    kInKey,
    kColon,
    kValue,
    kInString,
    kInNested,
    kInScalar,
    kAfterValue,
    kEvents,
    kDone,
    kLost,
    kNotJson
  };

  enum class KeySearch { kBefore, kAtKey, kInKey, kAfterKey };

  size_t SkipBlanks(std::string_view text, size_t at);
  void Start(char c);
  void Key(char c, uint64_t offset);
  void InKey(char c);
  void Value(char c, uint64_t offset);
  void InString(char c);
  void InNested(char c);
  void AfterValue(char c, uint64_t offset);
  void AfterHeader(char c, uint64_t offset);
  void Lose(uint64_t offset);
  void SearchEvents(char c);
  void SearchNextKey(char c);
  void SearchEventsInValue(char c, uint64_t offset);
  void ResumeEvents(uint64_t event_offset, uint64_t offset);
  void SearchNextEvent(char c, uint64_t offset);
  void Keep(char c);
  void EndValue();

  size_t bytes_max_;
  EventIssues& issues_;
  State state_ = State::kStart;
  Entries entries_;
  std::string key_;
  std::string value_;
  size_t kept_bytes_ = 0;
  bool over_limit_ = false;
  int depth_ = 0;
  bool in_string_ = false;
  bool escaped_ = false;
  bool array_form_ = false;
  int event_arrays_ = 0;
  size_t matched_ = 0;  // kLost and inside values: how much of `"traceEvents":[` has been seen
  KeySearch key_search_ = KeySearch::kBefore;
  size_t event_matched_ = 0;  // after the events: how much of `},{"ph":`, with any event's key
  std::string event_key_;
  uint64_t event_offset_ = 0;  // of that brace
  size_t resumed_bytes_ = 0;
  uint64_t lost_offset_ = 0;  // where kLost began
  int bom_ = 0;
  char refused_ = '\0';
  uint64_t value_offset_ = 0;
  std::string garbage_;  // the first bytes after the trace's end that are not blank
  uint64_t garbage_offset_ = 0;
};

}  // namespace tracedb
