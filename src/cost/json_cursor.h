// Reads JSON from left to right: what is known is taken, what is not is skipped. No recursion.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace tracedb {

class JsonCursor {
 public:
  explicit JsonCursor(std::string_view text) : text_(text) {}

  // Whether that character comes next; takes it.
  bool Take(char wanted);
  bool Sees(char wanted);
  // False: what comes is none, or does not end.
  bool TakeString(std::string& text);
  bool TakeInteger(int64_t& number);
  bool SkipValue();

 private:
  void SkipBlanks();
  bool SkipString();

  std::string_view text_;
  size_t at_ = 0;
};

}  // namespace tracedb
