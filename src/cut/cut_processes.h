// Process ids of several ranks in one file. A GPU's is its number, the same on every host, so each
// process gets a new id, and a name that says its rank.
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
  // Numbers the processes of all ranks: by rank, then as their traces sort them.
  static Result<CutProcesses> Read(SqliteDb& db, const CutSources& sources);

  // The new id of a process as JSON.
  std::string PidJson(int64_t rank, const std::string& pid) const;
  // Metadata events that name, label and sort the processes; one a text.
  const std::vector<std::string>& metadata() const { return metadata_; }
  // Whether a metadata event says what those above say instead.
  static bool Replaces(const std::string& name_json);

 private:
  std::map<std::pair<int64_t, std::string>, int64_t> pids_;
  std::vector<std::string> metadata_;
};

}  // namespace tracedb
