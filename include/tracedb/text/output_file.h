// The file that a command writes its answer to: whole or not at all, and never over the database.
// Every command that has -o goes through here.
#pragma once

#include <filesystem>
#include <initializer_list>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tracedb/base/result.h"
#include "tracedb/text/output_stream.h"

namespace tracedb {

// What an output must not be written over.
struct OutputGuard {
  // That are read: never, nor the names used beside them. What they were made from is an input.
  std::vector<std::filesystem::path> databases;
  std::vector<std::filesystem::path> inputs;  // of the answer, beside those; only with `force`
  bool force = false;                         // other databases and inputs may be replaced

  // An error is of kUsage, and says it of `-o PATH`. A hard link is the file as well.
  Status Check(const std::filesystem::path& path) const;
  // The same of standard output, which the shell may have been told to append to a file.
  Status CheckStandardOutput() const;

 private:
  Status CheckInputs(const std::filesystem::path& path) const;
};

// ".pdf" of report.PDF: what a name ends in, in small letters.
std::string EndingOf(const std::filesystem::path& path);

// Whether the name ends in one of these (".pdf"): whoever writes what an answer is not under such a
// name would open it with a program that cannot read it. No where there is such a file: of that an
// OutputGuard says more.
bool IsNewFileNamed(const std::filesystem::path& path,
                    std::initializer_list<std::string_view> endings);

// A file of that path once Commit() is through. Before, it has no name (on file systems without
// such files a hidden one with a random part, ".tracedb-"), and goes away with this object. An
// existing file is replaced, and keeps its permissions and, where we may, its owner; a symbolic
// link stays one: what it leads to is replaced. What is no regular file (/dev/null, a named pipe),
// and what /dev/stdout and /proc lead to, is written to as it is.
class FileOutput : public OutputStream {
 public:
  static Result<std::unique_ptr<FileOutput>> Create(const std::filesystem::path& path,
                                                    OutputGuard guard);
  ~FileOutput() override;
  FileOutput(const FileOutput&) = delete;
  FileOutput& operator=(const FileOutput&) = delete;

  Status Commit();

 protected:
  Status WriteThrough(std::string_view bytes) override;

 private:
  FileOutput(std::filesystem::path shown, std::filesystem::path target, OutputGuard guard)
      : shown_(std::move(shown)), target_(std::move(target)), guard_(std::move(guard)) {}
  Status OpenAsItIs();
  Status OpenBeside(unsigned mode);
  Status KeepPermissions(unsigned user, unsigned group, unsigned mode);
  Status PutInPlace();
  Error Failed(std::string_view doing) const;

  std::filesystem::path shown_;   // the path as it was given
  std::filesystem::path target_;  // with links followed
  const OutputGuard guard_;
  bool is_beside_ = false;           // not written to as it is
  std::filesystem::path temporary_;  // the name of what is beside, where it has one
  int descriptor_ = -1;
};

}  // namespace tracedb
