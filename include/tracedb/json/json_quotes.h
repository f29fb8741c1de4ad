// Tells a JSON text's strings from what stands between them, a byte at a time.
#pragma once

namespace tracedb {

class JsonQuotes {
 public:
  // Takes the next byte. True when it stands outside strings, and is no quote that opens one.
  bool Outside(char c) {
    if (in_string_) {
      if (c == '"' && !escaped_) in_string_ = false;
      escaped_ = c == '\\' && !escaped_;
      return false;
    }
    in_string_ = c == '"';
    escaped_ = false;
    return !in_string_;
  }

  bool in_string() const { return in_string_; }  // after the bytes taken so far

 private:
  bool in_string_ = false;
  bool escaped_ = false;
};

}  // namespace tracedb
