#include "sources/values/json_reader.h"

#include <charconv>

namespace tracedb {
namespace {

constexpr size_t kDepthMax = 200;
constexpr size_t kItemsAtOnce = 1024;

}  // namespace

// A container's items come in parts, so that a list's memory is that of the list.
bool JsonReader::Add(ValueId value) {
  if (open_.empty()) {
    if (has_root_) return false;
    root_ = value;
    has_root_ = true;
    return true;
  }
  Open& open = open_.back();
  if (open.is_dict && open.items.size() % 2 == 0 && !values_.TextOf(value).has_value()) {
    return false;  // no key
  }
  open.items.push_back(value);
  if (open.items.size() >= kItemsAtOnce) {
    values_.Append(open.container, open.items);
    open.items.clear();
  }
  return true;
}

bool JsonReader::Close(bool is_dict) {
  if (open_.empty() || open_.back().is_dict != is_dict) return false;
  Open& open = open_.back();
  if (is_dict && open.items.size() % 2 != 0) open.items.pop_back();
  values_.Append(open.container, open.items);
  open_.pop_back();
  return true;
}

// Commas and colons say nothing that the order of the values does not.
bool JsonReader::Take(JsonToken token) {
  switch (token) {
    case JsonToken::kBeginList:
    case JsonToken::kBeginDict: {
      const bool is_dict = token == JsonToken::kBeginDict;
      if (open_.size() >= kDepthMax) return false;
      const ValueId container = is_dict ? values_.Dict() : values_.List();
      if (!Add(container)) return false;
      open_.push_back({container, {}, is_dict});
      return true;
    }
    case JsonToken::kEndList:
    case JsonToken::kEndDict:
      return Close(token == JsonToken::kEndDict);
    case JsonToken::kComma:
    case JsonToken::kColon:
      return !open_.empty();
    case JsonToken::kText:
      return Add(values_.Text(tokens_.text()));
    case JsonToken::kTrue:
    case JsonToken::kFalse:
      return Add(values_.Bool(token == JsonToken::kTrue));
    case JsonToken::kNull:
      return Add(values_.None());
    case JsonToken::kNumber: {
      const std::string& text = tokens_.text();
      const char* end = text.data() + text.size();
      int64_t integer = 0;
      const auto [at, error] = std::from_chars(text.data(), end, integer);
      if (error == std::errc{} && at == end) return Add(values_.Int(integer));
      double real = 0;
      std::from_chars(text.data(), end, real);
      return Add(values_.Real(real));
    }
    case JsonToken::kEnd:
    case JsonToken::kBad:
      break;
  }
  return false;
}

Result<ValueId> JsonReader::Read() {
  while (!has_root_ || !open_.empty()) {
    TRACEDB_ASSIGN(token, tokens_.Next());
    if (!Take(token)) {
      is_cut_ = true;
      break;
    }
    if (values_.IsFull()) {
      constexpr size_t kMiB = size_t{1} << 20;
      return Error{
          ErrorKind::kInput,
          "the file's values want more than " + std::to_string(values_.bytes_max() / kMiB) + " MiB",
          "they have to be in memory as a whole: give --memory, some three times the file"};
    }
  }
  while (!open_.empty()) Close(open_.back().is_dict);
  return root_;
}

}  // namespace tracedb
