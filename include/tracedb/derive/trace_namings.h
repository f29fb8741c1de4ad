// The metadata events that name the processes and threads of a trace, noted while it is read. Some
// writers name a thread again with each of its events, 310,000 times in a trace of 25,000 kernels:
// of each track and event name the last one is kept.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string_view>
#include <utility>

namespace tracedb {

// The event names of metadata events that name something, and the key of their args that says it.
struct NamingEvent {
  std::string_view event;
  std::string_view key;
};
inline constexpr std::array<NamingEvent, 3> kProcessNamings = {
    {{"process_name", "name"}, {"process_sort_index", "sort_index"}, {"process_labels", "labels"}}};
inline constexpr std::array<NamingEvent, 2> kThreadNamings = {
    {{"thread_name", "name"}, {"thread_sort_index", "sort_index"}}};

inline bool IsNamingEvent(std::string_view event_name) {
  const auto is = [event_name](const NamingEvent& naming) { return naming.event == event_name; };
  return std::any_of(kProcessNamings.begin(), kProcessNamings.end(), is) ||
         std::any_of(kThreadNamings.begin(), kThreadNamings.end(), is);
}

class TraceNamings {
 public:
  struct Last {
    int64_t id = 0;         // in _metadata_event
    int64_t args_text = 0;  // in _args_text
  };

  // In the order of the trace. The memory has a bound: beyond so many, none is known (complete).
  void Note(int64_t track, int64_t event_name, Last last) {
    const std::pair key{track, event_name};
    const auto found = lasts_.find(key);
    if (found != lasts_.end()) {
      found->second = last;
    } else if (lasts_.size() < kLastMax) {
      lasts_.emplace(key, last);
    } else {
      complete_ = false;
    }
  }
  bool complete() const { return complete_; }
  // By track and event name.
  const std::map<std::pair<int64_t, int64_t>, Last>& lasts() const { return lasts_; }

 private:
  static constexpr size_t kLastMax = 16384;

  std::map<std::pair<int64_t, int64_t>, Last> lasts_;
  bool complete_ = true;
};

}  // namespace tracedb
