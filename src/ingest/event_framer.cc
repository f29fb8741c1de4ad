#include "ingest/event_framer.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "ingest/event_resync.h"
#include "ingest/json_text.h"

namespace tracedb {

EventFramer::EventFramer(const LoadLimits& limits, EventIssues& issues, Take take, Give give)
    : limits_(limits),
      issues_(issues),
      take_(std::move(take)),
      give_(std::move(give)),
      header_(limits.header_bytes_max, issues) {
  TakeWindow(limits_.window_bytes);
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
  if (header_.in_events()) scan_ = {};
}

void EventFramer::ScanEventBytes() {
  const char* base = window_.data();
  // In pieces that end at fixed places of the stream: what is looked into for a lost quote, and
  // when, must not depend on the blocks that the text comes in.
  const uint64_t offset = window_offset_ + scanned_ - EventWindow::kFrontBytes;
  const size_t piece_end =
      std::min<uint64_t>(fill_, scanned_ + (kResyncBytes - offset % kResyncBytes));
  const EventScan found = ScanEvents(scan_, base + scanned_, base + piece_end);
  if (found.depth_max >= limits_.depth_max) deep_ = true;
  const auto position = [base](const char* at) { return static_cast<size_t>(at - base); };
  if (skipping_ && (found.first_end != nullptr || found.array_end != nullptr)) {
    // The event that was too large ends here.
    begin_ = position(found.first_end != nullptr ? found.first_end : found.array_end);
    skipping_ = false;
  }
  if (found.last_end != nullptr) {
    last_end_ = position(found.last_end);
    resync_bytes_ = kResyncBytes;
  }
  if (found.array_end == nullptr) {
    scanned_ = piece_end;
    const uint64_t reached = window_offset_ + scanned_ - EventWindow::kFrontBytes;
    const bool place = reached % kResyncBytes == 0;
    if (skipping_) {
      begin_ = scanned_;
    } else if (place && scanned_ - std::max(begin_, last_end_) > resync_bytes_) {
      resync_bytes_ *= 2;
      Resync();
    }
    return;
  }
  const size_t end = position(found.array_end);
  header_.EndEvents();
  scanned_ = end + 1;
  GiveUpTo(end, end + 1);
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
    GiveUpTo(last_end_, last_end_);
    return;
  }
  while (begin_ < fill_ && (IsJsonBlank(window_.bytes[begin_]) || window_.bytes[begin_] == ',')) {
    ++begin_;
  }
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

// An event does not end. If that is because of a lost quote, it is given up, and scanning begins
// anew at the event behind it.
bool EventFramer::Resync() {
  if (last_end_ > begin_) GiveUpTo(last_end_, last_end_);
  if (stopped_) return false;
  while (begin_ < scanned_ &&
         (IsJsonBlank(window_.bytes[begin_]) || window_.bytes[begin_] == ',')) {
    ++begin_;
  }
  const size_t next = NextEventBehindLostQuote(Between(begin_, scanned_));
  if (next == std::string_view::npos) return false;
  issues_.Add(IssueKind::kMalformedEvent, window_offset_ + begin_ - EventWindow::kFrontBytes,
              Between(begin_, begin_ + next));
  begin_ += next;
  scanned_ = begin_;
  last_end_ = 0;
  scan_ = {};
  resync_bytes_ = kResyncBytes;
  return true;
}

void EventFramer::BeginSkipping() {
  const uint64_t offset = window_offset_ + begin_ - EventWindow::kFrontBytes;
  issues_.Add(IssueKind::kEventTooLarge, offset, Between(begin_, fill_));
  skipping_ = true;
  MakeRoom();
}

bool EventFramer::TakeWindow(size_t room_bytes) {
  auto window = take_();
  if (!window.has_value()) {
    stopped_ = true;
    return false;
  }
  window_ = std::move(*window);
  if (window_.room() < room_bytes || window_.room() > 2 * room_bytes) {
    window_.bytes = {};
    window_.SetRoom(room_bytes);
  }
  return true;
}

// Hands on [begin_, end) and carries [next_begin, fill_) over into a new window.
void EventFramer::GiveUpTo(size_t end, size_t next_begin) {
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
  const size_t room = std::min(2 * carried, limits_.event_bytes_max);
  if (!TakeWindow(std::max(limits_.window_bytes, room))) return;
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
  while (!stopped_ && header_.in_events() && !skipping_ && Resync()) ScanNew();
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
  GiveUpTo(end, fill_);
}

std::string_view EventFramer::Between(size_t begin, size_t end) const {
  return {window_.bytes.data() + begin, end - begin};
}

}  // namespace tracedb
