// Lines of a descriptor as they come.
#pragma once

#include <string>

#include "shell/line_reader.h"

namespace tracedb {

class PlainLines : public LineReader {
 public:
  // Prompts go to standard output where they are shown.
  PlainLines(int descriptor, bool shows_prompt)
      : descriptor_(descriptor), shows_prompt_(shows_prompt) {}
  Result<TypedLine> Read(const std::string& prompt) override;

 private:
  int descriptor_;
  bool shows_prompt_;
  std::string read_;  // and not yet handed over
  bool at_end_ = false;
};

}  // namespace tracedb
