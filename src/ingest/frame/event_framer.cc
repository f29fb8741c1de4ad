#include "ingest/frame/event_framer.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "ingest/frame/event_resync.h"
#include "tracedb/json/json_blanks.h"
#include "tracedb/json/json_text.h"

namespace tracedb {

EventFramer::EventFramer(const LoadLimits& limits, EventIssues& issues, Take take, Give give)
    : limits_(limits),
      issues_(issues),
      take_(std::move(take)),
      give_(std::move(give)),
      header_(limits.header_bytes_max, issues),
      resync_bytes_(limits.resync_bytes) {
  TakeWindow(WindowBytes());
}

std::span<char> EventFramer::Room() {
  if (stopped_) return {};
  const size_t end = EventWindow::kFrontBytes + window_.room();
  return {window_.data() + fill_, end - fill_};
}

void EventFramer::Added(size_t count) {
  fill_ += count;
  ScanNew();
  if (!stopped_ && Room().empty()) MakeRoom();
}

void EventFramer::ScanNew() {
  while (scanned_ < fill_ && !stopped_) {
    if (header_.in_events()) {
      ScanEventBytes();
    } else {
      ReadHeaderBytes();
    }
  }
}

void EventFramer::ReadHeaderBytes() {
  const uint64_t offset = window_offset_ + scanned_ - EventWindow::kFrontBytes;
  scanned_ += header_.Read(Between(scanned_, fill_), offset);
  begin_ = scanned_;
  last_end_ = 0;
  if (!header_.in_events()) return;
  scan_ = {};
  const size_t resumed = header_.resumed_bytes();
  if (resumed == 0) return;
  // It used the beginning of an event: back to it, if it is still here.
  if (resumed <= scanned_ - EventWindow::kFrontBytes) {
    begin_ = scanned_ -= resumed;
  } else {
    scan_.depth = 1;
  }
}

void EventFramer::ScanEventBytes() {
  const char* base = window_.data();
  // In pieces that end at fixed places of the stream: what is looked into for a lost quote, and
  // when, must not depend on the blocks that the text comes in.
  const uint64_t offset = window_offset_ + scanned_ - EventWindow::kFrontBytes;
  const size_t piece_end =
      std::min<uint64_t>(fill_, scanned_ + (limits_.resync_bytes - offset % limits_.resync_bytes));
  const auto scan = skipping_ ? ScanEvents : ScanLastEvent;
  const EventScan found = scan(scan_, base + scanned_, base + piece_end);
  if (found.depth_max >= limits_.depth_max) deep_ = true;
  const auto position = [base](const char* at) { return static_cast<size_t>(at - base); };
  if (skipping_ && (found.first_end != nullptr || found.array_end != nullptr)) {
    // The event that was too large ends here.
    begin_ = position(found.first_end != nullptr ? found.first_end : found.array_end);
    skipping_ = false;
  }
  if (found.last_end != nullptr) {
    last_end_ = position(found.last_end);
    resync_bytes_ = limits_.resync_bytes;
  }
  if (found.array_end != nullptr) {
    EndArray(position(found.array_end), piece_end);
    return;
  }
  scanned_ = piece_end;
  const uint64_t reached = window_offset_ + scanned_ - EventWindow::kFrontBytes;
  const bool place = reached % limits_.resync_bytes == 0;
  if (skipping_) {
    if (place && !EndSkipping()) begin_ = scanned_;
  } else if (place) {
    CheckPlace();
  }
}

// A bracket closes what is no event: the array's end, or one that is too many or in a name.
void EventFramer::EndArray(size_t at, size_t piece_end) {
  const char* base = window_.data();
  const uint64_t offset = window_offset_ + at - EventWindow::kFrontBytes;
  const bool more_junk = lost_ && offset == junk_end_;
  if (base[at] == ']' && !more_junk && MayEndArray(Between(std::max(begin_, last_end_), at))) {
    header_.EndEvents();
    scanned_ = at + 1;
    EmitUpTo(at, at + 1);
    return;
  }
  scanned_ = at + 1;
  if (base[at] == '}' && EndArrayAfterLostBrace()) return;
  while (scanned_ < piece_end && base[scanned_] == base[at]) ++scanned_;
  last_end_ = scanned_;  // the parser says what is wrong with it
  junk_end_ = offset + (scanned_ - at);
  scan_ = {};
  lost_ = true;
}

// A brace that is missing makes the array's bracket close the event, and the brace after it close
// what is not open. Looked for once a window: then the cost is that of reading it again.
bool EventFramer::EndArrayAfterLostBrace() {
  if (looked_at_ == window_offset_ + 1) return false;
  looked_at_ = window_offset_ + 1;
  return EndArrayAt(ArrayEndAfterLostBrace(Between(begin_, scanned_)));
}

// At fixed places of the stream: do events still end where they should? Costs nothing where they
// do, and no more than reading the text twice where they do not.
void EventFramer::CheckPlace() {
  const size_t after = std::max(begin_, last_end_);
  const size_t open_bytes = scanned_ - after;
  if (last_end_ > begin_) {
    const char* const end = window_.data() + scanned_;
    const char* const next = AfterBlanks(window_.data() + after, end);
    if (next != end && *next != ',' && *next != ']' && *next != '{') lost_ = true;
  }
  if (open_bytes > resync_bytes_) {
    resync_bytes_ *= 2;
    Resync();
  } else if (lost_ && open_bytes <= limits_.resync_bytes) {
    Resync();
  }
}

// The window is full: hands on its whole events, or makes it larger for the one that does not fit.
void EventFramer::MakeRoom() {
  if (!header_.in_events() || skipping_) {
    window_offset_ += fill_ - EventWindow::kFrontBytes;
    begin_ = scanned_ = fill_ = EventWindow::kFrontBytes;
    last_end_ = 0;
    return;
  }
  if (last_end_ > begin_) {
    EmitUpTo(last_end_, last_end_, true);
    return;
  }
  SkipBlanksTo(fill_);
  if (begin_ > EventWindow::kFrontBytes) {  // what comes before the event is not needed
    std::memmove(window_.data() + EventWindow::kFrontBytes, window_.data() + begin_,
                 fill_ - begin_);
    const size_t moved = begin_ - EventWindow::kFrontBytes;
    window_offset_ += moved;
    begin_ -= moved;
    scanned_ -= moved;
    fill_ -= moved;
    last_end_ = 0;
    return;
  }
  if (window_.room() < limits_.event_bytes_max) {
    window_.SetRoom(std::min(window_.room() * 2, limits_.event_bytes_max));
    return;
  }
  BeginSkipping();
}

void EventFramer::SkipBlanksTo(size_t end) {
  const char* const base = window_.data();
  begin_ =
      static_cast<size_t>(AfterBlanks<Blanks::kBlanksAndCommas>(base + begin_, base + end) - base);
}

// An event does not end, or ends where none can. If the place where the next one begins is in
// sight, scanning begins anew there; what is before it goes to the parser, which takes it apart.
bool EventFramer::Resync() {
  if (last_end_ > begin_) EmitUpTo(last_end_, last_end_);
  if (stopped_) return false;
  SkipBlanksTo(scanned_);
  const std::string_view open = Between(begin_, scanned_);
  size_t next = NextEventAfterLostQuote(open);
  if (next == std::string_view::npos) next = LastEventWithPhase(open);
  if (next == std::string_view::npos) return false;
  scan_ = {};
  scanned_ = begin_ + next;
  EmitUpTo(scanned_, scanned_);
  resync_bytes_ = limits_.resync_bytes;
  lost_ = false;
  return true;
}

// The last event lost a quote: the array's end is in what looks like a string.
bool EventFramer::EndArrayAfterLostQuote() {
  return EndArrayAt(ArrayEndAfterLostQuote(Between(begin_, scanned_)));
}

// `end` is that of the array's bracket, from begin_ on; npos: there is none.
bool EventFramer::EndArrayAt(size_t end) {
  if (end == std::string_view::npos) return false;
  scan_ = {};
  scanned_ = begin_ + end + 1;
  header_.EndEvents();
  EmitUpTo(begin_ + end, scanned_);
  return true;
}

// The event that is being skipped has no end in sight: maybe another begins in this piece of it.
bool EventFramer::EndSkipping() {
  const size_t next = EventStarts(Between(begin_, scanned_)).NextAfter(0);
  if (next == std::string_view::npos) return false;
  begin_ += next;
  scanned_ = begin_;
  last_end_ = 0;
  scan_ = {};
  skipping_ = false;
  return true;
}

void EventFramer::BeginSkipping() {
  const uint64_t offset = window_offset_ + begin_ - EventWindow::kFrontBytes;
  issues_.Add(IssueKind::kEventTooLarge, offset, Between(begin_, fill_));
  skipping_ = true;
  MakeRoom();
}

size_t EventFramer::WindowBytes() const {
  return window_offset_ < limits_.start_text_bytes
             ? std::min(limits_.window_bytes, limits_.start_window_bytes)
             : limits_.window_bytes;
}

bool EventFramer::TakeWindow(size_t room_bytes) {
  auto window = take_();
  if (!window.has_value()) {
    stopped_ = true;
    return false;
  }
  window_ = std::move(*window);
  if (window_.room() == room_bytes) return true;
  if (window_.room() < room_bytes || window_.room() > 2 * room_bytes) window_.bytes = {};
  window_.SetRoom(room_bytes);
  return true;
}

// Hands on [begin_, end) and carries [next_begin, fill_) over into a new window.
void EventFramer::EmitUpTo(size_t end, size_t next_begin, bool is_full) {
  if (end <= begin_) {
    begin_ = next_begin;
    last_end_ = 0;
    return;
  }
  EventWindow full = std::move(window_);
  full.begin = begin_;
  full.end = end;
  full.offset = window_offset_ + begin_ - EventWindow::kFrontBytes;
  full.ordinal = ordinal_++;
  full.deep = std::exchange(deep_, scan_.depth >= limits_.depth_max);
  const size_t carried = fill_ - next_begin;
  // Where windows end must not depend on the blocks: what is broken is told from the window that it
  // is in. A full one carries over what the text alone decides; else the room stays as it was.
  const size_t room = is_full
                          ? std::max(WindowBytes(), std::min(2 * carried, limits_.event_bytes_max))
                          : full.room();
  if (!TakeWindow(room)) return;
  std::memcpy(window_.data() + EventWindow::kFrontBytes, full.data() + next_begin, carried);
  const size_t moved = next_begin - EventWindow::kFrontBytes;
  window_offset_ += moved;
  scanned_ -= moved;
  fill_ -= moved;
  begin_ = EventWindow::kFrontBytes;
  last_end_ = 0;
  if (!give_(std::move(full))) stopped_ = true;
}

void EventFramer::Finish() {
  while (!stopped_ && header_.in_events() && !skipping_ &&
         (EndArrayAfterLostBrace() || Resync() || EndArrayAfterLostQuote())) {
    ScanNew();
  }
  if (stopped_) return;
  header_.Finish();
  complete_ = header_.finished();
  if (!header_.in_events()) {
    if (!complete_ && header_.saw_events()) {
      issues_.Add(IssueKind::kTruncated, text_bytes(), "the file ends inside its header");
    }
    return;
  }
  const size_t end = std::max(last_end_, begin_);
  const std::string_view rest = Between(end, fill_);
  const size_t at = rest.find_first_not_of(" \t\r\n,");
  if (at != std::string_view::npos || skipping_) {
    const std::string_view cut = at == std::string_view::npos ? "" : rest.substr(at);
    issues_.Add(IssueKind::kTruncated,
                window_offset_ + end - EventWindow::kFrontBytes + (cut.empty() ? 0 : at), cut);
  } else if (header_.array_form()) {
    complete_ = true;  // the format allows a bare array to stay open
  } else {
    issues_.Add(IssueKind::kTruncated, text_bytes(), "the file ends inside its event array");
  }
  EmitUpTo(end, fill_);
}

std::string_view EventFramer::Between(size_t begin, size_t end) const {
  return {window_.bytes.data() + begin, end - begin};
}

}  // namespace tracedb
