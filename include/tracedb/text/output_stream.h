// Where result text goes: a file descriptor, a file that appears whole or not at all, a string; a
// server adds its own. Knows nothing of queries.
//
// Whoever writes to a pipe must have SIGPIPE ignored (main does), so that the reader's going comes
// back as ErrorKind::kClosed.
#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <string_view>

#include "tracedb/base/result.h"

namespace tracedb {

class OutputStream {
 public:
  virtual ~OutputStream() = default;

  // Gathers text and passes it on in pieces of about 64 KiB. After an error, stop.
  Status Write(std::string_view text);
  // Passes on what is gathered.
  Status Flush();

 protected:
  virtual Status WriteThrough(std::string_view bytes) = 0;

 private:
  std::string gathered_;
};

// Writes to a descriptor that it does not close. `name` is for errors: "standard output".
class DescriptorOutput : public OutputStream {
 public:
  DescriptorOutput(int descriptor, std::string name)
      : descriptor_(descriptor), name_(std::move(name)) {}

 protected:
  Status WriteThrough(std::string_view bytes) override;

 private:
  int descriptor_;
  std::string name_;
};

// Keeps everything; for tests and for short answers.
class StringOutput : public OutputStream {
 public:
  const std::string& text() const { return text_; }  // what was flushed

 protected:
  Status WriteThrough(std::string_view bytes) override;

 private:
  std::string text_;
};

// A file of that path once Commit() is through; before, a hidden file beside it, which goes away
// with this object. An existing file keeps its permissions, a symbolic link stays one. What is no
// regular file (/dev/null, a named pipe) is written to as it is.
class FileOutput : public OutputStream {
 public:
  static Result<std::unique_ptr<FileOutput>> Create(const std::filesystem::path& path);
  ~FileOutput() override;
  FileOutput(const FileOutput&) = delete;
  FileOutput& operator=(const FileOutput&) = delete;

  Status Commit();

 protected:
  Status WriteThrough(std::string_view bytes) override;

 private:
  FileOutput(std::filesystem::path shown, std::filesystem::path target)
      : shown_(std::move(shown)), target_(std::move(target)) {}
  Status OpenTemporary();
  Error Failed(std::string_view doing) const;

  std::filesystem::path shown_;      // the path as it was given
  std::filesystem::path target_;     // with links followed
  std::filesystem::path temporary_;  // empty: written to directly, or committed
  int descriptor_ = -1;
};

}  // namespace tracedb
