// What the INPUT arguments of ingest stand for: files, "-", and folders searched for traces.
#pragma once

#include <atomic>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "tracedb/base/result.h"
#include "tracedb/ingest/read/byte_source.h"

namespace tracedb {

struct InputFile {
  // NOLINTNEXTLINE(google-explicit-constructor): a path is a file that was named
  InputFile(std::filesystem::path named, std::filesystem::path folder = {})
      : path(std::move(named)), input_folder(std::move(folder)) {}

  std::filesystem::path path;
  std::filesystem::path input_folder;  // in which it was found; empty: it was named itself
  // It may turn out to be no trace.
  bool is_searched() const { return !input_folder.empty(); }

  // By its name, of a file that was found in a folder: .json, .json.gz, .json.zst.
  bool is_named_like_trace = true;

  // Of a file that is no trace's text itself: how to have it as one, with so much memory for what
  // has to be looked up in it. Empty: it is read as it is.
  using Open = std::function<Result<std::unique_ptr<ByteSource>>(const std::atomic<bool>* stop,
                                                                 size_t memory_bytes)>;
  Open open;
  std::string part;        // of a file that holds several traces, which one; else empty
  std::string read_mark;   // what of the file is read, and how: goes with the hash of its content
  bool by_device = false;  // its parts come in the order of their GPUs, which may be that of ranks
  bool rank_is_guess = false;  // that in its header

  // By which it is told from others: the path, with the part.
  std::string name() const { return part.empty() ? path.string() : path.string() + "#" + part; }
};

// Files as given; of a folder every regular file below it whose name does not begin with a dot, in
// the order of their names with numbers by value (rank2 before rank10). Leftovers named .tmp are
// passed over. An error names what does not exist, and a folder without files; a folder that goes
// while its own folder is searched is passed over, which `on_note` is told.
using OnNote = std::function<void(const std::string&)>;
Result<std::vector<InputFile>> FindInputFiles(const std::vector<std::string>& inputs,
                                              const OnNote& on_note = {});

// Absolute, and the same however it is written; links stay as they are. Where there is no working
// folder any more, as written.
std::string AbsoluteFolder(const std::filesystem::path& folder);
// In which an input is; of standard input: the working folder.
std::string FolderOfInput(const std::filesystem::path& input);

}  // namespace tracedb
