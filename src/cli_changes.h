// The options of `tracedb what-if` as a change of a job, which the query what_if takes.
#pragma once

#include <string>
#include <vector>

#include "cli_options.h"
#include "tracedb/base/result.h"

namespace tracedb {

struct JobChanges {
  std::string json;  // an array, as what_if has it
  // What was asked for by name, to say so where nothing in the database has it.
  struct Name {
    std::string how;  // "=", "LIKE" or "GLOB"
    std::string text;
    std::string rank, step;  // with it; empty: any
  };
  std::vector<Name> names;
  std::vector<std::string> ranks;
};

// kUsage: an option is not understood, or none says what is to be changed.
Result<JobChanges> ReadChanges(const WhatIfArguments& arguments);

}  // namespace tracedb
