// What the INPUT arguments of ingest stand for: files, "-", and folders searched for traces.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "tracedb/base/result.h"

namespace tracedb {

struct InputFile {
  std::filesystem::path path;
  bool searched = false;  // found in a folder, not named: it may turn out to be no trace
};

// Files as given; of a folder every file below it that is named like a trace (.json, .json.gz,
// .json.zst), in the order of their names with numbers by value (rank2 before rank10). Leftovers
// named .tmp are passed over. An error names what does not exist, and a folder without traces.
Result<std::vector<InputFile>> FindInputFiles(const std::vector<std::string>& inputs);

}  // namespace tracedb
