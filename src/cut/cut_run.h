// Of which run a cut is: what is cut is never of several.
#pragma once

#include <atomic>
#include <string>
#include <vector>

#include "cut/cut_source.h"
#include "tracedb/base/result.h"
#include "tracedb/cut/cut_command.h"

namespace tracedb {

struct ChosenRun {
  CutSources sources;  // with their window
  bool has_window = false;
  std::vector<std::string> notes;  // what was chosen where the person did not say it
};

// The run that was named, else the only one that has something in the window: kUsage where several
// have.
Result<ChosenRun> ChooseRun(SqliteDb& db, const CutOptions& options, const std::atomic<bool>& stop);

}  // namespace tracedb
