// Whether somebody asked for an end while no SQL runs.
#pragma once

#include <cstdint>

#include "tracedb/base/result.h"
#include "tracedb/base/sqlite_db.h"

namespace tracedb {

// Lets SQLite look, by a statement that does nothing: by StopWhen, StopIf, sqlite3_interrupt, or
// whatever the program has set that this is loaded into.
class StopWatch {
 public:
  explicit StopWatch(SqliteDb& db) : db_(db) {}

  // To be called for each of many small things: looks once in a quarter of a million. Once true it
  // stays so.
  bool Asked() {
    if (++calls_ % kCallsBetween == 0 && status_.ok()) status_ = Look();
    return !status_.ok();
  }
  const Status& status() const { return status_; }

 private:
  static constexpr uint64_t kCallsBetween = 1 << 18;  // some 5 ms
  Status Look();

  SqliteDb& db_;
  uint64_t calls_ = 0;
  Status status_ = Done{};
};

}  // namespace tracedb
