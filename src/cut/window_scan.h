// Finds the rows of a window by several connections at a time.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <vector>

#include "cut/cut_rows.h"
#include "cut/cut_source.h"
#include "tracedb/base/sqlite_db.h"

namespace tracedb {

class WindowScan {
 public:
  // `stop` must live longer.
  WindowScan(std::filesystem::path database, const std::atomic<bool>& stop);

  // The row ids, rising, of each table's rows in the trace's window. Nothing when that does not pay
  // (few rows, one processor, no window), when they would not fit into 8 MB, or when the file shows
  // another state than the one that `trace` was read from; whoever asks then looks for himself.
  std::optional<RowIds> Find(const CutSource& trace);

 private:
  struct Piece {
    EventTable table;
    int64_t first_row, last_row;
    std::vector<int64_t> ids;
  };
  bool OpenConnections();
  bool ScanPieces(SqliteDb& db, const CutSource& trace, std::vector<Piece>& pieces);
  Status ScanPiece(SqliteDb& db, const CutSource& trace, Piece& piece);

  std::filesystem::path database_;
  const std::atomic<bool>& stop_;
  std::vector<SqliteDb> connections_;
  std::atomic<size_t> next_piece_ = 0;
  std::atomic<int64_t> found_ = 0;
};

}  // namespace tracedb
