// Where result text goes: a file descriptor, a string; output_file.h has files that appear whole or
// not at all, and a server adds its own. Knows nothing of queries.
//
// Whoever writes to a pipe must have SIGPIPE ignored (main does), so that the reader's going comes
// back as ErrorKind::kClosed.
#pragma once

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

// The system's word for `code`, of an errno, and what to do about it.
Error CannotWrite(std::string_view name, std::string_view doing, int code);
// Waits where the descriptor is not ready; `name` is for errors.
Status WriteAll(int descriptor, std::string_view bytes, std::string_view name);

}  // namespace tracedb
