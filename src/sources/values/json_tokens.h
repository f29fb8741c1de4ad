// The tokens of a JSON text, one after the other, in bounded memory.
#pragma once

#include <cstdint>
#include <string>

#include "sources/values/source_bytes.h"
#include "tracedb/base/result.h"

namespace tracedb {

enum class JsonToken {
  kBeginList,
  kEndList,
  kBeginDict,
  kEndDict,
  kComma,
  kColon,
  kText,
  kNumber,
  kTrue,
  kFalse,
  kNull,  // NaN and Infinity too, which Python writes
  kEnd,
  kBad,  // nothing that JSON knows; or a text that the file ends in
};

class JsonTokens {
 public:
  static constexpr size_t kTextBytesMax = size_t{1} << 20;  // a longer one is kBad

  explicit JsonTokens(SourceBytes& bytes) : bytes_(bytes) {}

  Result<JsonToken> Next();
  // Of the last kText, unescaped, or kNumber, as it is written.
  const std::string& text() const { return text_; }
  uint64_t offset() const { return offset_; }  // at which the last token began

 private:
  Result<JsonToken> TakeText();
  Result<JsonToken> TakeWord(unsigned char first);

  SourceBytes& bytes_;
  std::string text_;
  uint64_t offset_ = 0;
};

}  // namespace tracedb
