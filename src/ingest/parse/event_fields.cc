#include "ingest/parse/event_fields.h"

#include <algorithm>
#include <charconv>
#include <cstring>
#include <utility>

#include "tracedb/json/json_check.h"
#include "tracedb/json/json_text.h"

namespace tracedb {
namespace {

using simdjson::error_code;
namespace ondemand = simdjson::ondemand;

struct Number {
  bool valid = false;
  bool is_int = false;  // fits int64 and would be written the same way again
  int64_t value = 0;
};

bool IsDigit(char c) { return static_cast<unsigned char>(c - '0') < 10; }

inline Number ReadNumber(std::string_view text) {
  Number number;
  const bool negative = text[0] == '-';
  const std::string_view digits = negative ? text.substr(1) : text;
  if (digits.empty() || digits.size() > 18) {
    number.valid = IsJsonNumber(text);
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number.value);
    number.is_int = number.valid && error == std::errc() && end == text.data() + text.size();
    return number;
  }
  for (const char c : digits) {
    if (!IsDigit(c)) {
      number.valid = IsJsonNumber(text);
      return number;
    }
    number.value = number.value * 10 + (c - '0');
  }
  if (digits[0] == '0' && (digits.size() > 1 || negative)) {
    number.valid = digits.size() == 1;
    return number;
  }
  number.valid = number.is_int = true;
  if (negative) number.value = -number.value;
  return number;
}

// Whether a value is followed as a key is: the parser, which skips values unseen, would take it for
// one. `token` reaches up to what follows.
inline bool IsFollowedByColon(std::string_view token) {
  return token[0] == '"' && token.data()[token.size()] == ':';
}

// The token without the blanks after it; empty when it is none.
inline std::string_view TokenOf(ondemand::value value) {
  std::string_view token = value.raw_json_token();
  if (IsFollowedByColon(token)) return {};
  while (!token.empty() && IsJsonBlank(token.back())) token.remove_suffix(1);
  return token;
}

// The key in front of a value's token: from `begin`, after its opening quote, to its closing one.
inline std::string_view KeyBefore(const char* begin, const char* token) {
  const char* at = token - 1;
  while (at > begin && *at != '"') --at;
  return {begin, static_cast<size_t>(at - begin)};
}

void AppendUpTo(std::string& out, const char* from, const char* end) {
  out.append(from, static_cast<size_t>(end - from));
}

// The whole text of an object or array. The parser skips what is inside unseen: it counts brackets,
// whichever they are, and takes one for the value that a key lacks.
error_code RawText(ondemand::value value, std::string_view& text) {
  if (value.raw_json_token()[0] == '{') {
    ondemand::object object;
    if (const auto error = value.get_object().get(object)) return error;
    if (const auto error = object.raw_json().get(text)) return error;
  } else {
    ondemand::array array;
    if (const auto error = value.get_array().get(array)) return error;
    if (const auto error = array.raw_json().get(text)) return error;
  }
  text = TrimJsonBlanks(text);
  return IsJson(text) ? simdjson::SUCCESS : simdjson::TAPE_ERROR;
}

bool IsLiteral(std::string_view token) {
  return token == "true" || token == "false" || token == "null";
}

// A string, a literal or what may be a number; not NaN or an infinity, which are mended first.
bool IsScalar(std::string_view token) {
  if (token.empty()) return false;
  if (token[0] == '-') return token.size() > 1 && IsDigit(token[1]);
  return token[0] == '"' || IsDigit(token[0]) || IsLiteral(token);
}

error_code SetScalar(std::string_view& field, ondemand::value value) {
  field = TokenOf(value);
  return IsScalar(field) ? simdjson::SUCCESS : simdjson::INCORRECT_TYPE;
}

bool IsPointer(std::string_view token) { return token.size() > 6 && token.starts_with("\"0x"); }

}  // namespace

void EventFields::Clear() {
  phase = name = category = pid = tid = ts = dur = id = scope = device = stream = {};
  args.clear();
  others.clear();
  columns_mask = text_mask = args_mask_ = 0;
}

void EventFields::SetInt(ArgsColumn column, int64_t value, std::string_view token) {
  tokens[static_cast<size_t>(column)] = token;
  columns_mask |= uint32_t{1} << static_cast<int>(column);
  ints[static_cast<size_t>(column)] = value;
}

void EventFields::SetText(ArgsColumn column, std::string_view text) {
  tokens[static_cast<size_t>(column)] = text;
  columns_mask |= uint32_t{1} << static_cast<int>(column);
  text_mask |= uint32_t{1} << static_cast<int>(column);
  texts[static_cast<size_t>(column)] = text;
}

ArgsColumn EventFields::FreeSpareColumn() const {
  for (int column = static_cast<int>(ArgsColumn::kValue1); column < kArgsColumns; ++column) {
    if ((columns_mask >> column & 1) == 0) return static_cast<ArgsColumn>(column);
  }
  return ArgsColumn::kNone;
}

// The column for a number of args, kNone when it stays in the text.
ArgsColumn EventFields::ColumnFor(std::string_view key, std::string_view number, bool is_int,
                                  int64_t value) {
  const ArgKey known = ClassifyArg(key);
  if (known.kind == ArgClass::kKeep) return ArgsColumn::kNone;
  if (known.kind == ArgClass::kColumn && is_int) {
    const auto bit = uint32_t{1} << static_cast<int>(known.column);
    if ((columns_mask & bit) == 0) return known.column;
  }
  if (known.column == ArgsColumn::kAddr &&
      (columns_mask >> static_cast<int>(ArgsColumn::kAddr) & 1) == 0 &&
      std::all_of(number.begin(), number.end(), IsDigit)) {
    return ArgsColumn::kAddr;  // an address above 2^63: kept as text
  }
  const bool few = is_int ? IsFewValued(value) : number.size() <= 3;
  return few ? ArgsColumn::kNone : FreeSpareColumn();
}

// A key of args that comes again: the column is for the last value, so that of the one before goes
// back into the text.
void EventFields::MakeRoomForLast(std::string_view key, bool is_int) {
  const ArgKey known = ClassifyArg(key);
  if (known.kind != ArgClass::kColumn || !is_int) return;
  const uint32_t bit = uint32_t{1} << static_cast<int>(known.column);
  if ((columns_mask & bit) == 0) return;
  const size_t at = args.find(ArgsMark(static_cast<int>(known.column)));
  if (at == std::string::npos) return;
  args.replace(at, 1, tokens[static_cast<size_t>(known.column)]);
  columns_mask &= ~bit;
  text_mask &= ~bit;
}

error_code EventFields::Read(ondemand::document& document, ondemand::object event) {
  Clear();
  for (auto field_result : event) {
    ondemand::field field;
    if (const auto error = std::move(field_result).get(field)) return error;
    const char* key_begin = field.key().raw();
    ondemand::value value = field.value();
    const std::string_view key = KeyBefore(key_begin, value.raw_json_token().data());
    if (const auto error = ReadKey(document, key, value)) return error;
  }
  return simdjson::SUCCESS;
}

error_code EventFields::ReadKey(ondemand::document& document, std::string_view key,
                                ondemand::value value) {
  // Sizes agree already: with a constant size the comparison is a few instructions.
  const auto is = [key]<size_t n>(const char(&wanted)[n]) {
    return std::memcmp(key.data(), wanted, n - 1) == 0;
  };
  const char first = value.raw_json_token()[0];
  const bool nested = first == '{' || first == '[';
  if (nested && key != "args" && key.find('\\') == std::string_view::npos) {
    return ReadNested(key, value);
  }
  switch (key.size()) {
    case 2:
      if (is("ts")) return SetScalar(ts, value);
      if (is("ph")) return SetScalar(phase, value);
      if (is("id")) return ReadOther(key, value);
      break;
    case 3:
      if (is("pid")) return SetScalar(pid, value);
      if (is("tid")) return SetScalar(tid, value);
      if (is("dur")) return SetScalar(dur, value);
      if (is("cat")) return SetScalar(category, value);
      break;
    case 4:
      if (is("name")) return SetScalar(name, value);
      if (is("args")) return ReadArgs(document, value);
      break;
    default:
      break;
  }
  if (key.find('\\') != std::string_view::npos) {
    // A key written with escapes, such as "na\u006de"; it cannot contain another backslash unless
    // it is none of ours.
    const std::string plain = UnescapedJson(key);
    if (plain.find('\\') == std::string::npos && plain.size() <= 4) {
      return ReadKey(document, plain, value);
    }
  }
  return ReadOther(key, value);
}

// A key that should have a plain value has an object or array: its whole text is the value.
error_code EventFields::ReadNested(std::string_view key, ondemand::value value) {
  for (const auto& [name_of_key, field] :
       {std::pair<std::string_view, std::string_view*>{"name", &name},
        {"cat", &category},
        {"pid", &pid},
        {"tid", &tid}}) {
    if (key == name_of_key) return RawText(value, *field);
  }
  return ReadOther(key, value);
}

// A plain value of args. Where it goes into a column, the text from `copied` up to it is appended,
// and a mark in its place.
error_code EventFields::ReadArg(std::string_view key, std::string_view token, const char*& copied) {
  const char first = token[0];
  if (first == '"') {
    // A stream or device stays in the text: it decides the track.
    if (!IsPointer(token) || ClassifyArg(key).kind == ArgClass::kKeep) return simdjson::SUCCESS;
    const ArgsColumn column = FreeSpareColumn();
    if (column == ArgsColumn::kNone) return simdjson::SUCCESS;
    SetText(column, Unquoted(token));
    AppendUpTo(args, copied, token.data() + 1);
    args += ArgsMark(static_cast<int>(column));
    copied = token.data() + token.size() - 1;
    return simdjson::SUCCESS;
  }
  if (first != '-' && !IsDigit(first)) {
    return IsLiteral(token) ? simdjson::SUCCESS : simdjson::INCORRECT_TYPE;
  }
  const Number number = ReadNumber(token);
  if (!number.valid) return simdjson::NUMBER_ERROR;
  MakeRoomForLast(key, number.is_int);
  const ArgsColumn column = ColumnFor(key, token, number.is_int, number.value);
  if (column == ArgsColumn::kNone) return simdjson::SUCCESS;
  if (number.is_int) {
    SetInt(column, number.value, token);
  } else {
    SetText(column, token);
  }
  AppendUpTo(args, copied, token.data());
  args += ArgsMark(static_cast<int>(column));
  copied = token.data() + token.size();
  return simdjson::SUCCESS;
}

error_code EventFields::ReadArgs(ondemand::document& document, ondemand::value value) {
  args.clear();
  columns_mask &= ~args_mask_;  // args written twice: the last ones count
  text_mask &= ~args_mask_;
  args_mask_ = 0;
  const uint32_t others_mask = columns_mask;
  device = stream = {};
  const char* copied = value.raw_json_token().data();
  if (*copied != '{') {
    if (*copied == '[') {
      std::string_view raw;
      if (const auto error = RawText(value, raw)) return error;
      args = raw;
    } else {
      args = TokenOf(value);
      if (!IsScalar(args)) return simdjson::INCORRECT_TYPE;
    }
    return simdjson::SUCCESS;
  }
  ondemand::object object;
  std::string plain_key;
  if (const auto error = value.get_object().get(object)) return error;
  for (auto field_result : object) {
    ondemand::field field;
    if (const auto error = std::move(field_result).get(field)) return error;
    const char* key_begin = field.key().raw();
    std::string_view token = field.value().raw_json_token();
    const char first = token[0];
    if (first == '{' || first == '[') continue;
    if (IsFollowedByColon(token)) return simdjson::TAPE_ERROR;
    std::string_view key = KeyBefore(key_begin, token.data());
    if (key.find('\\') != std::string_view::npos) {
      plain_key = UnescapedJson(key);
      key = plain_key;
    }
    while (IsJsonBlank(token.back())) token.remove_suffix(1);
    if (key.size() == 6) {
      if (key == "device") device = token;
      if (key == "stream") stream = token;
    }
    if (const auto error = ReadArg(key, token, copied)) return error;
  }
  const char* end = nullptr;
  if (const auto error = document.current_location().get(end)) return error;
  while (*--end != '}') {
  }
  AppendUpTo(args, copied, end + 1);
  args_mask_ = columns_mask & ~others_mask;
  return simdjson::SUCCESS;
}

error_code EventFields::ReadOther(std::string_view key, ondemand::value value) {
  std::string_view token = TokenOf(value);
  const char first = token.empty() ? '\0' : token[0];
  if (first == '{' || first == '[') {
    if (const auto error = RawText(value, token)) return error;
  } else if (first == '-' || IsDigit(first)) {
    if (!ReadNumber(token).valid) return simdjson::NUMBER_ERROR;
  } else if (first != '"' && !IsLiteral(token)) {
    return simdjson::INCORRECT_TYPE;
  }
  token = TrimJsonBlanks(token);
  if (!others.empty()) others += ',';
  others += '"';
  others += key;
  others += "\":";
  if (key == "id" || key == "id2") {
    ReadId(key, token);
    return simdjson::SUCCESS;
  }
  if (key == "scope") scope = token;
  const Number number = first == '-' || IsDigit(first) ? ReadNumber(token) : Number{};
  const ArgsColumn column =
      number.valid ? ColumnFor("", token, number.is_int, number.value) : ArgsColumn::kNone;
  if (column == ArgsColumn::kNone) {
    others += token;
  } else {
    if (number.is_int) {
      SetInt(column, number.value, token);
    } else {
      SetText(column, token);
    }
    others += ArgsMark(static_cast<int>(column));
  }
  return simdjson::SUCCESS;
}

void EventFields::ReadId(std::string_view key, std::string_view token) {
  if (key == "id" || id.empty()) id = token;
  const uint32_t bit = uint32_t{1} << static_cast<int>(ArgsColumn::kId);
  if ((columns_mask & bit) != 0) {  // an id was there already
    others += token;
    return;
  }
  const Number number = token[0] == '-' || IsDigit(token[0]) ? ReadNumber(token) : Number{};
  if (number.is_int) {
    SetInt(ArgsColumn::kId, number.value, token);
    others += ArgsMark(static_cast<int>(ArgsColumn::kId));
    return;
  }
  const bool quoted = token.front() == '"';
  SetText(ArgsColumn::kId, Unquoted(token));
  if (quoted) others += '"';
  others += ArgsMark(static_cast<int>(ArgsColumn::kId));
  if (quoted) others += '"';
}

}  // namespace tracedb
