// Process ids of several traces in one file. A GPU's is its number, the same on every host, and a
// process of a later capture may be another of the same number: so each process of a trace gets a
// new id, and a name that says its rank, and of several captures which it is of.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "cut/cut_source.h"
#include "tracedb/base/result.h"
#include "tracedb/base/sqlite_db.h"

namespace tracedb {

class CutProcesses {
 public:
  // Numbers the processes of all traces: by rank and capture, then as their traces sort them.
  static Result<CutProcesses> Read(SqliteDb& db, const CutSources& sources);

  // The new id of a process as JSON.
  std::string PidJson(int64_t trace_id, const std::string& pid) const;
  int64_t LargestPid() const;
  // Metadata events that name, label and sort the processes; one a text.
  const std::vector<std::string>& metadata() const { return metadata_; }
  // Whether a metadata event says what those above say instead.
  static bool Replaces(const std::string& name_json);

 private:
  std::map<std::pair<int64_t, std::string>, int64_t> pids_;
  std::vector<std::string> metadata_;
};

}  // namespace tracedb
