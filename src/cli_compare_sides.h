// The runs that compare is given: databases, runs of databases, and traces that are loaded first.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "cli_commands.h"
#include "cli_progress.h"
#include "cli_temporary.h"
#include "tracedb/compare/compare_runs.h"

namespace tracedb {

class RunInputs {
 public:
  RunInputs(const GlobalOptions& global, const std::atomic<bool>& stop)
      : global_(global), stop_(stop), progress_(global) {}

  // The runs in the order of `inputs`. Traces and folders are loaded into temporary databases, one
  // each, which go with this object; before any database is opened.
  Result<std::vector<RunToCompare>> Find(const std::vector<std::string>& inputs);

  // All that is wanted of the runs has been read.
  void EndProgress() { progress_.Hide(); }

  // The inputs that are databases, and those that the others were loaded into.
  const std::vector<std::filesystem::path>& databases() const { return databases_; }

 private:
  struct Source {
    std::string name;  // as it was given
    std::filesystem::path database;
    std::string run;  // as it was given; empty: the only one
  };
  Result<Source> Locate(const std::string& input);
  Result<std::filesystem::path> Load(const std::string& input);
  Result<RunToCompare> Choose(const Source& source);

  const GlobalOptions& global_;
  const std::atomic<bool>& stop_;
  std::unique_ptr<TemporaryFolder> folder_;
  std::vector<std::filesystem::path> databases_;
  ProgressLine progress_;
};

}  // namespace tracedb
