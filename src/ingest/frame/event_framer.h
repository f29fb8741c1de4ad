// Cuts a trace's text into windows of whole events, whatever the blocks it comes in, and hands
// what stands outside the event array to the header reader. Looks at brackets and quotes only.
//
// Memory: one window at a time is filled here; others come from the pool and go back to it.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>

#include "ingest/frame/event_scan.h"
#include "ingest/frame/event_window.h"
#include "ingest/frame/header_reader.h"
#include "tracedb/memory/load_limits.h"
#include "tracedb/schema/event_issues.h"

namespace tracedb {

class EventFramer {
 public:
  // `take` waits for an empty window, nothing when the reader of windows has gone; `give` hands a
  // full one on, false when its reader has gone.
  using Take = std::function<std::optional<EventWindow>()>;
  using Give = std::function<bool(EventWindow)>;

  EventFramer(const LoadLimits& limits, EventIssues& issues, Take take, Give give);

  // Where to put the next bytes: never empty unless stopped().
  std::span<char> Room();
  // `count` bytes have been put there.
  void Added(size_t count);
  // The text is over: hands on what is left.
  void Finish();

  bool stopped() const { return stopped_; }    // the reader of windows has gone
  bool complete() const { return complete_; }  // after Finish: the trace's end was there
  const HeaderReader& header() const { return header_; }
  uint64_t text_bytes() const { return window_offset_ + fill_ - EventWindow::kFrontBytes; }

 private:
  void ScanNew();
  void ScanEventBytes();
  void EndArray(size_t at, size_t piece_end);
  void CheckPlace();
  void ReadHeaderBytes();
  void MakeRoom();
  size_t WindowBytes() const;
  bool TakeWindow(size_t room_bytes);
  void EmitUpTo(size_t end, size_t next_begin, bool is_full = false);
  void BeginSkipping();
  bool EndSkipping();
  void SkipBlanksTo(size_t end);
  bool Resync();
  bool EndArrayAfterLostQuote();
  bool EndArrayAt(size_t end);
  bool EndArrayAfterLostBrace();
  std::string_view Between(size_t begin, size_t end) const;

  LoadLimits limits_;
  EventIssues& issues_;
  Take take_;
  Give give_;
  HeaderReader header_;
  EventWindow window_;
  EventScanState scan_;
  // Positions in window_.bytes: [begin_, fill_) is text not handed on; it is scanned up to
  // scanned_.
  size_t begin_ = EventWindow::kFrontBytes;
  size_t scanned_ = EventWindow::kFrontBytes;
  size_t fill_ = EventWindow::kFrontBytes;
  size_t last_end_ = 0;         // after the last whole event in [begin_, scanned_); 0: none
  uint64_t window_offset_ = 0;  // stream position of the window's first byte of text
  uint64_t ordinal_ = 0;
  size_t resync_bytes_;  // an event so long without an end is looked into
  bool deep_ = false;
  bool lost_ = false;       // a bracket stood where none can: a quote may be missing
  uint64_t looked_at_ = 0;  // window_offset_ + 1 when it was last gone through for a lost brace
  uint64_t junk_end_ = 0;   // stream position after the last such brackets
  bool skipping_ = false;   // inside an event that is too large
  bool stopped_ = false;
  bool complete_ = false;
};

}  // namespace tracedb
