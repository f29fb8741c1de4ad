// What the INPUT arguments of ingest stand for: files, "-", and folders searched for traces.
#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "tracedb/base/result.h"

namespace tracedb {

struct InputFile {
  // NOLINTNEXTLINE(google-explicit-constructor): a path is a file that was named
  InputFile(std::filesystem::path named, std::filesystem::path folder = {})
      : path(std::move(named)), input_folder(std::move(folder)) {}

  std::filesystem::path path;
  std::filesystem::path input_folder;  // in which it was found; empty: it was named itself
  // It may turn out to be no trace.
  bool is_searched() const { return !input_folder.empty(); }
};

// Files as given; of a folder every file below it that is named like a trace (.json, .json.gz,
// .json.zst), in the order of their names with numbers by value (rank2 before rank10). Leftovers
// named .tmp are passed over. An error names what does not exist, and a folder without traces; a
// folder that goes while its own folder is searched is passed over, which `on_note` is told.
using OnNote = std::function<void(const std::string&)>;
Result<std::vector<InputFile>> FindInputFiles(const std::vector<std::string>& inputs,
                                              const OnNote& on_note = {});

}  // namespace tracedb
