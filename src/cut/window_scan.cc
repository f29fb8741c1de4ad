#include "cut/window_scan.h"

#include <fmt/format.h>

#include <algorithm>
#include <thread>
#include <utility>

namespace tracedb {
namespace {

constexpr int64_t kRowsMin = 10'000;
constexpr int64_t kPieceRows = 250'000;
constexpr int64_t kIdsMax = 1'000'000;
constexpr unsigned kThreadsMax = 4;

// Rows of a trace never change; that it is the same one is told by what it was read from and when.
Result<bool> HasTrace(SqliteDb& db, const CutSource& trace) {
  TRACEDB_ASSIGN(row, db.Prepare("SELECT text_hash || ' ' || ingested_at FROM _trace WHERE "
                                 "trace_id = ?1 AND first_row = ?2 AND last_row = ?3"));
  TRACEDB_TRY(row.Bind(1, trace.trace_id));
  TRACEDB_TRY(row.Bind(2, trace.first_row));
  TRACEDB_TRY(row.Bind(3, trace.last_row));
  TRACEDB_ASSIGN(any, row.Step());
  return any && row.Text(0) == trace.identity;
}

}  // namespace

WindowScan::WindowScan(std::filesystem::path database, const std::atomic<bool>& stop)
    : database_(std::move(database)), stop_(stop) {}

bool WindowScan::OpenConnections() {
  const unsigned threads = std::min(std::thread::hardware_concurrency(), kThreadsMax);
  if (threads < 2) return false;
  while (connections_.size() < threads) {
    auto db = SqliteDb::Open(database_, SqliteMode::kReadOnly);
    if (!db.ok()) return false;
    connections_.push_back(std::move(db).value());
    connections_.back().StopWhen(stop_);
  }
  return true;
}

std::optional<RowIds> WindowScan::Find(const CutSource& trace) {
  const bool pays = trace.window.has_value() && trace.last_row - trace.first_row >= kRowsMin;
  if (!pays || !OpenConnections()) return std::nullopt;
  std::vector<Piece> pieces;
  for (const EventTable table : kWindowedTables) {
    for (int64_t row = trace.first_row; row <= trace.last_row; row += kPieceRows) {
      pieces.push_back({table, row, std::min(row + kPieceRows - 1, trace.last_row), {}});
    }
  }
  next_piece_ = 0;
  found_ = 0;
  std::atomic<bool> failed = false;
  std::vector<std::thread> threads;
  for (SqliteDb& db : connections_) {
    threads.emplace_back([&] {
      if (!ScanPieces(db, trace, pieces)) failed = true;
    });
  }
  for (std::thread& thread : threads) thread.join();
  if (failed) return std::nullopt;
  RowIds ids;
  for (Piece& piece : pieces) {
    std::vector<int64_t>& all = ids[static_cast<size_t>(piece.table)];
    all.insert(all.end(), piece.ids.begin(), piece.ids.end());
  }
  return ids;
}

bool WindowScan::ScanPieces(SqliteDb& db, const CutSource& trace, std::vector<Piece>& pieces) {
  if (!db.Execute("BEGIN").ok()) return false;
  const auto has_trace = HasTrace(db, trace);
  bool good = has_trace.ok() && has_trace.value();
  while (good) {
    const size_t piece = next_piece_++;
    if (piece >= pieces.size()) break;
    good = ScanPiece(db, trace, pieces[piece]).ok() && found_ <= kIdsMax;
  }
  const bool ended = db.Execute("COMMIT").ok();
  return good && ended;
}

Status WindowScan::ScanPiece(SqliteDb& db, const CutSource& trace, Piece& piece) {
  TRACEDB_ASSIGN(
      rows, db.Prepare(fmt::format("SELECT s.id FROM {} s WHERE s.id BETWEEN ?1 AND ?2 AND {}",
                                   EventTableName(piece.table), WindowCondition(piece.table))));
  TRACEDB_TRY(rows.Bind(1, piece.first_row));
  TRACEDB_TRY(rows.Bind(2, piece.last_row));
  TRACEDB_TRY(rows.Bind(3, TimeInRows(trace, trace.window->start_ns)));
  TRACEDB_TRY(rows.Bind(4, TimeInRows(trace, trace.window->end_ns)));
  while (found_ <= kIdsMax) {
    TRACEDB_ASSIGN(any, rows.Step());
    if (!any) break;
    piece.ids.push_back(rows.Int(0));
    ++found_;
  }
  return Done{};
}

}  // namespace tracedb
