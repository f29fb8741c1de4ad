#include "sources/torch_dumps/dump_values.h"

#include <algorithm>

#include "sources/values/json_reader.h"
#include "sources/values/pickle_reader.h"
#include "tracedb/json/json_text.h"

namespace tracedb {
namespace {

// Rows of a sound dump have up to twenty times its bytes, where every entry has a long remark.
void BoundTexts(uint64_t dump_bytes, SourceRows& rows) {
  constexpr uint64_t kTimesDump = 64;
  constexpr uint64_t kTimesMemory = 4;
  constexpr uint64_t kBytesMin = uint64_t{16} << 20;
  rows.text_bytes_max = std::min<uint64_t>(std::max(kBytesMin, kTimesDump * dump_bytes),
                                           kTimesMemory * rows.options.memory_bytes);
}

}  // namespace

Result<ValueId> ReadDump(SourceText& text, SourceRows& rows, PlainValues& values) {
  SourceBytes bytes(text);
  TRACEDB_ASSIGN(first, bytes.Peek());
  if (first.has_value() && (*first == '{' || IsJsonBlank(static_cast<char>(*first)))) {
    JsonReader reader(bytes, values);
    TRACEDB_ASSIGN(root, reader.Read());
    if (reader.is_cut()) rows.issues.Add("cut_short", reader.offset(), "");
    BoundTexts(reader.offset(), rows);
    return root;
  }
  PickleReader reader(bytes, values);
  TRACEDB_ASSIGN(root, reader.Read());
  if (reader.is_cut()) rows.issues.Add("cut_short", bytes.offset(), "");
  BoundTexts(bytes.offset(), rows);
  return root;
}

namespace {

// Protocol 0, in lines: "(dp0\nVsegments\n".
bool IsDictInLines(std::string_view text) {
  if (!text.starts_with("(d")) return false;
  text.remove_prefix(2);
  if (text.starts_with('p')) {
    const size_t end = text.find('\n');
    if (end == std::string_view::npos || end < 2) return false;
    const std::string_view place = text.substr(1, end - 1);
    if (place.find_first_not_of("0123456789") != std::string_view::npos) return false;
    text.remove_prefix(end + 1);
  }
  return text.starts_with('V') || text.starts_with('S');
}

// Protocol 1, which has no opcode of its own: an empty dictionary, its memo, a mark and a text.
bool IsDictWithoutProtocol(std::string_view text) {
  if (!text.starts_with("}q") || text.size() < 4) return false;
  const char key = text[3] == '(' && text.size() > 4 ? text[4] : text[3];
  return key == 'X' || key == 'U';
}

}  // namespace

// The opcodes before the first key: protocol, frame, an empty dictionary and its memo.
bool IsPickledDict(std::string_view text) {
  if (IsDictInLines(text) || IsDictWithoutProtocol(text)) return true;
  constexpr char kProtocol = '\x80';
  constexpr char kFrame = '\x95';
  constexpr size_t kFrameBytes = 9;
  if (text.size() < 4 || text[0] != kProtocol || text[1] < 2 || text[1] > 5) return false;
  size_t at = 2;
  if (text[at] == kFrame) at += kFrameBytes;
  return at < text.size() && text[at] == '}';
}

bool IsJsonObject(std::string_view text) { return TrimJsonBlanks(text).starts_with('{'); }

std::string_view FileName(std::string_view path) { return path.substr(path.rfind('/') + 1); }

std::optional<std::string> OthersOf(SourceRows& rows, const PlainValues& values, ValueId dict,
                                    std::initializer_list<std::string_view> known) {
  constexpr int kDepthMax = 8;
  constexpr size_t kJsonBytesMax = size_t{64} << 10;  // of one
  constexpr size_t kAllBytesMax = size_t{1} << 20;
  std::string json;
  const std::span<const ValueId> pairs = values.PairsOf(dict);
  for (size_t i = 0; i < pairs.size(); i += 2) {
    const auto text = values.TextOf(pairs[i]);
    if (text.has_value() && std::find(known.begin(), known.end(), *text) != known.end()) continue;
    const auto key = text.has_value() ? std::optional(std::string(*text))
                                      : values.Json(pairs[i], kDepthMax, kJsonBytesMax);
    const auto value = values.Json(pairs[i + 1], kDepthMax, kJsonBytesMax);
    if (!key.has_value() || !value.has_value()) rows.issues.Add("text_left_out", 0, "");
    if (!key.has_value()) continue;
    if (json.size() + key->size() > kAllBytesMax) {
      rows.issues.Add("text_left_out", 0, *key);
      break;
    }
    json += json.empty() ? "{" : ",";
    AppendJsonString(json, *key);
    json += ":" + value.value_or("null");
  }
  if (json.empty()) return std::nullopt;
  return json + "}";
}

}  // namespace tracedb
