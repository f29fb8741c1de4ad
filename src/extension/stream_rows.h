// The activities of one stream, in the order of their start, put together by pieces of time. One
// pass, in the memory of a row: SQL would sort them all by piece.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "tracedb/base/interval.h"
#include "tracedb/base/result.h"
#include "tracedb/base/sqlite_db.h"

namespace tracedb {

// Pieces of piece_ns each; piece 0 begins at from_ns, and those before have numbers below 0.
struct PieceFrame {
  int64_t from_ns = 0;
  int64_t piece_ns = 1;

  int64_t PieceOf(int64_t at_ns) const {
    const int64_t since_ns = DifferenceNs(at_ns, from_ns);
    return since_ns / piece_ns - (since_ns % piece_ns < 0 ? 1 : 0);
  }
  // To the end of its piece.
  int64_t RestNs(int64_t at_ns) const {
    const int64_t into_ns = DifferenceNs(at_ns, from_ns) % piece_ns;
    return into_ns < 0 ? -into_ns : piece_ns - into_ns;
  }
};

// Activities of one kind that start in the same piece.
struct StreamPiece {
  int64_t kind = 0;  // as in activity_times
  int64_t piece = 0;
  int64_t first_ns = 0;  // first start
  int64_t last_ns = 0;   // last end
  int64_t activities = 0;
  int64_t sum_ns = 0;
  int64_t longest_name = 0;  // of several that are as long, the one with the least number
  int64_t longest_ns = -1;
};

class StreamPieces {
 public:
  static Result<StreamPieces> Open(SqliteDb& db, int64_t stream_id, PieceFrame frame);
  // False: there is none any more. Pieces of one kind come in their order.
  Result<bool> Next();
  const StreamPiece& row() const { return row_; }

 private:
  StreamPieces(SqliteStatement activities, PieceFrame frame)
      : activities_(std::move(activities)), frame_(frame) {}

  SqliteStatement activities_;
  PieceFrame frame_;
  bool is_read_ = false;
  std::array<StreamPiece, 4> open_{};  // by kind; of 0 activities: none
  StreamPiece row_;
};

// In how much of each piece something ran: what overlaps counts once.
struct StreamBusyPiece {
  int64_t piece = 0;
  int64_t busy_ns = 0;
};

class StreamBusy {
 public:
  static Result<StreamBusy> Open(SqliteDb& db, int64_t stream_id, PieceFrame frame);
  // False: there is none any more. In the order of their pieces, without those where nothing ran.
  Result<bool> Next();
  const StreamBusyPiece& row() const { return row_; }

 private:
  StreamBusy(SqliteStatement activities, PieceFrame frame)
      : activities_(std::move(activities)), frame_(frame) {}

  SqliteStatement activities_;
  PieceFrame frame_;
  bool is_read_ = false;
  bool any_ = false;
  int64_t free_ns_ = 0;     // to here it is counted; none before any_
  Interval left_;           // of an activity what is not counted yet
  StreamBusyPiece open_{};  // of 0 ns: none
  StreamBusyPiece row_;
};

}  // namespace tracedb
