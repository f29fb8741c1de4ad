// Which events of a trace are wanted, time aside.
#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "cut/cut_rows.h"
#include "cut/cut_source.h"
#include "cut/cut_texts.h"
#include "tracedb/base/result.h"
#include "tracedb/base/sqlite_db.h"

namespace tracedb {

class CutFilter {
 public:
  CutFilter(std::vector<std::string> streams, std::vector<std::string> categories)
      : streams_(std::move(streams)), categories_(std::move(categories)) {}

  bool IsEmpty() const { return streams_.empty() && categories_.empty(); }
  // To be called before events of `trace` are shown.
  Status SetTrace(SqliteDb& db, const CutSource& trace);
  // Metadata always. An event of a stream's thread without a stream of its own (annotations, ends
  // of flows) goes with the stream.
  Result<bool> Keeps(const CutRow& row, CutTexts& texts) const;

 private:
  std::vector<std::string> streams_;
  std::vector<std::string> categories_;
  std::map<std::pair<std::string, std::string>, std::string> stream_threads_;  // by pid and tid
};

}  // namespace tracedb
