// Lines that somebody types, or that a file or a pipe holds.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "tracedb/base/result.h"

namespace tracedb {

struct TypedLine {
  enum class What { kLine, kInterrupted, kEnd };
  What what = What::kEnd;
  std::string text;  // without its end
};

class LineReader {
 public:
  static constexpr size_t kLineBytesMax = 1 << 20;

  virtual ~LineReader() = default;
  // kInterrupted: a signal came first, and what was typed of the line is dropped.
  virtual Result<TypedLine> Read(const std::string& prompt) = 0;
};

// Words that may follow `before` on its line and begin with `begun`.
using Completer =
    std::function<std::vector<std::string>(std::string_view before, std::string_view begun)>;

// Lines of a descriptor, without a prompt.
std::unique_ptr<LineReader> ReadPlainLines(int descriptor);
// Of the terminal at standard input, with keys to edit a line and a history of earlier ones, where
// the build has libedit; else plain ones with their prompt. `take_stop` says whether ctrl-C was
// pressed since it was asked last.
std::unique_ptr<LineReader> ReadTypedLines(Completer completer, std::function<bool()> take_stop);

}  // namespace tracedb
