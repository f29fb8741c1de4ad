#include "sources/values/json_tokens.h"

#include "tracedb/json/json_check.h"
#include "tracedb/json/json_text.h"

namespace tracedb {

Result<JsonToken> JsonTokens::Next() {
  for (;;) {
    offset_ = bytes_.offset();
    TRACEDB_ASSIGN(byte, bytes_.Next());
    if (!byte.has_value()) return JsonToken::kEnd;
    if (IsJsonBlank(static_cast<char>(*byte))) continue;
    switch (*byte) {
      case '[':
        return JsonToken::kBeginList;
      case ']':
        return JsonToken::kEndList;
      case '{':
        return JsonToken::kBeginDict;
      case '}':
        return JsonToken::kEndDict;
      case ',':
        return JsonToken::kComma;
      case ':':
        return JsonToken::kColon;
      case '"':
        return TakeText();
      default:
        return TakeWord(*byte);
    }
  }
}

Result<JsonToken> JsonTokens::TakeText() {
  text_.clear();
  bool escaped = false;
  for (;;) {
    TRACEDB_ASSIGN(byte, bytes_.Next());
    if (!byte.has_value() || text_.size() > kTextBytesMax) return JsonToken::kBad;
    if (*byte == '"' && !escaped) break;
    escaped = *byte == '\\' && !escaped;
    text_ += static_cast<char>(*byte);
  }
  text_ = UnescapedJson(text_);
  return JsonToken::kText;
}

Result<JsonToken> JsonTokens::TakeWord(unsigned char first) {
  constexpr size_t kWordMax = 64;
  text_.assign(1, static_cast<char>(first));
  for (;;) {
    TRACEDB_ASSIGN(byte, bytes_.Peek());
    const bool is_inner =
        byte.has_value() &&
        ((*byte >= '0' && *byte <= '9') || (*byte >= 'a' && *byte <= 'z') ||
         (*byte >= 'A' && *byte <= 'Z') || *byte == '.' || *byte == '+' || *byte == '-');
    if (!is_inner) break;
    if (text_.size() > kWordMax) return JsonToken::kBad;
    text_ += static_cast<char>(*byte);
    TRACEDB_TRY(bytes_.Next());
  }
  if (text_ == "true") return JsonToken::kTrue;
  if (text_ == "false") return JsonToken::kFalse;
  if (text_ == "null" || text_ == "NaN" || text_ == "Infinity" || text_ == "-Infinity") {
    return JsonToken::kNull;
  }
  return IsJsonNumber(text_) ? JsonToken::kNumber : JsonToken::kBad;
}

}  // namespace tracedb
