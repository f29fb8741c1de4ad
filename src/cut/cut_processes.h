// Process ids of several traces in one file. A GPU's is its number, the same on every host, and a
// process of a later capture may be another of the same number: so each process of a trace gets a
// new id, and a name that says its rank, and of several captures which it is of.
//
// Perfetto's importer reads tid 0 as the process id and drops process_labels, and takes no name of
// a thread whose tid is a text. So new ids are larger than any tid, labels ("GPU 1") are in the
// name, a stream's name says what ran on it most, and text tids become numbers.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <tuple>
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
  // The new tid of a thread as JSON: a number where it was a text; empty: as it was.
  std::string TidJson(int64_t trace_id, const std::string& pid, const std::string& tid) const;
  int64_t LargestPid() const;
  // Metadata events that name, label and sort the processes, and name the threads; one a text.
  const std::vector<std::string>& metadata() const { return metadata_; }
  // Whether a metadata event says what those above say instead.
  static bool Replaces(const std::string& name_json);

 private:
  using ThreadKey = std::tuple<int64_t, std::string, std::string>;  // trace, pid, tid
  struct Thread {
    ThreadKey key;
    std::string name;
    std::string busiest;  // of a stream: the kind that took most of its time
  };
  static Result<std::vector<Thread>> ReadThreads(SqliteDb& db, const CutSources& sources);
  // Numbers for the text tids, above the numeric ones; returns the first that is free.
  int64_t NumberTids(const std::vector<Thread>& threads);
  void NameThreads(const std::vector<Thread>& threads);

  std::map<std::pair<int64_t, std::string>, int64_t> pids_;
  std::map<ThreadKey, int64_t> tids_;  // of text tids
  std::vector<std::string> metadata_;
};

}  // namespace tracedb
