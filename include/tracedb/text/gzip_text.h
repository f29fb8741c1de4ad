// Packs text as gzip, piece by piece: answers over HTTP, and files.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "tracedb/base/result.h"

namespace tracedb {

class GzipText {
 public:
  static Result<std::unique_ptr<GzipText>> Create();
  // All of a text at once.
  static Result<std::string> Whole(std::string_view text);

  ~GzipText();

  // What is ready to be sent once `text` has been added; may be empty.
  std::string Add(std::string_view text) { return Pack(text, false); }
  // The rest. Nothing may be added after it.
  std::string Finish() { return Pack({}, true); }

 private:
  struct Stream;  // zlib's, which ends itself
  GzipText();
  std::string Pack(std::string_view text, bool last);

  std::unique_ptr<Stream> stream_;
};

}  // namespace tracedb
