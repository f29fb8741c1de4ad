#include "ingest/build/args_text.h"

#include <algorithm>
#include <charconv>
#include <new>
#include <vector>

#define SIMDJSON_EXCEPTIONS 0
#include <simdjson.h>

#include "tracedb/json/json_check.h"
#include "tracedb/json/json_requote.h"
#include "tracedb/json/json_text.h"
#include "tracedb/schema/args_columns.h"

namespace tracedb {
namespace {

namespace dom = simdjson::dom;

// Above this, a text is only made valid, not looked into: the parser's own memory is several times
// the text's.
constexpr size_t kReadBytesMax = 256 * 1024;

bool IsDigit(char c) { return c >= '0' && c <= '9'; }

// Whether more than so many digits follow each other anywhere. Looks at few bytes of most texts.
bool HasDigits(std::string_view text, size_t more_than) {
  for (size_t at = more_than; at < text.size(); at += more_than + 1) {
    if (!IsDigit(text[at])) continue;
    size_t begin = at;
    size_t end = at + 1;
    while (begin > 0 && IsDigit(text[begin - 1])) --begin;
    while (end < text.size() && IsDigit(text[end])) ++end;
    if (end - begin > more_than) return true;
  }
  return false;
}

// Valid JSON that says the same in every key that is read here: marks become zeros, and numbers are
// cut to what the parser takes.
std::string WithoutMarks(std::string_view text) {
  constexpr size_t kDigitsMax = 18;
  std::string plain;
  plain.reserve(text.size() + simdjson::SIMDJSON_PADDING);
  if (!HasDigits(text, kDigitsMax)) {
    plain = text;
    for (char& c : plain) {
      if (IsArgsMark(c)) c = '0';
    }
    return plain;
  }
  size_t digits = 0;
  bool in_string = false;
  bool escaped = false;
  for (const char c : text) {
    if (c == '"' && !escaped) in_string = !in_string;
    escaped = in_string && c == '\\' && !escaped;
    digits = !in_string && IsDigit(c) ? digits + 1 : 0;
    if (digits <= kDigitsMax) plain += IsArgsMark(c) ? '0' : c;
  }
  return plain;
}

std::optional<int64_t> AsInt(dom::element element) {
  int64_t value;
  if (element.get_int64().get(value) == simdjson::SUCCESS) return value;
  std::string_view text;
  if (element.get_string().get(text) != simdjson::SUCCESS) return std::nullopt;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

std::string AsText(dom::element element) {
  std::string_view text;
  if (element.get_string().get(text) == simdjson::SUCCESS) return std::string(text);
  return std::string(simdjson::minify(element));
}

void ReadMember(std::string_view key, dom::element value, ArgsText& args_text) {
  if (key == "Collective name") {
    args_text.collective = AsText(value);
  } else if (key == "dtype") {
    args_text.dtype = AsText(value);
  } else if (key == "In msg nelems") {
    args_text.in_nelems = AsInt(value);
  } else if (key == "Out msg nelems") {
    args_text.out_nelems = AsInt(value);
  } else if (key == "Process Group Name") {
    args_text.group_name = AsText(value);
  } else if (key == "Process Group Description") {
    args_text.group_description = AsText(value);
  } else if (key == "Process Group Ranks") {
    args_text.group_ranks = SortedRanks(AsText(value));
  } else if (key == "Group size") {
    args_text.group_size = AsInt(value);
  } else if (key == "Src Rank") {
    args_text.src_rank = AsInt(value);
  } else if (key == "Dst Rank") {
    args_text.dst_rank = AsInt(value);
  } else if (key == "grid") {
    args_text.grid = AsText(value);
  } else if (key == "block") {
    args_text.block = AsText(value);
  } else if (key == "registers per thread") {
    args_text.registers = AsInt(value);
  } else if (key == "shared memory") {
    args_text.shared_memory_bytes = AsInt(value);
  } else if (key == "est. achieved occupancy %") {
    double percent;
    if (value.get_double().get(percent) == simdjson::SUCCESS) args_text.occupancy_pct = percent;
  } else if (key == "Device Type") {
    args_text.device_type = AsInt(value);
  } else if (key == "Device Id") {
    args_text.device_id = AsInt(value);
  }
}

// The whole text as one JSON string; the marks stay marks.
std::string QuotedArgs(std::string_view args) {
  std::string quoted = "\"";
  std::string piece;
  for (size_t at = 0; at < args.size();) {
    size_t end = at;
    while (end < args.size() && !IsArgsMark(args[end])) ++end;
    piece.clear();
    AppendJsonString(piece, args.substr(at, end - at));
    quoted += Unquoted(piece);
    if (end < args.size()) quoted += args[end++];
    at = end;
  }
  return quoted + "\"";
}

// Of a valid text; the marks in it are no blanks.
std::string MinifiedArgs(std::string_view args) {
  std::string minified(args.size(), '\0');
  size_t size = 0;
  if (simdjson::minify(args.data(), args.size(), minified.data(), size) != simdjson::SUCCESS) {
    return MinifiedJson(args);
  }
  minified.resize(size);
  return minified;
}

}  // namespace

class ArgsTextReader::Impl {
 public:
  // True when `text` is valid JSON; its members are read into `args_text` if it is an object.
  // Valid, but beyond what the parser takes (numbers of more than 64 bits): no columns then.
  bool ReadValid(std::string_view text, ArgsText& args_text) {
    const std::string plain = WithoutMarks(text);
    // The parser checks as IsJson does, at a fraction of its cost, but that it skips a byte order
    // mark.
    if (plain.starts_with('{') && ReadObject(plain, args_text)) return true;
    return IsJson(plain);
  }

 private:
  // False: no object, or nothing that the parser takes; IsJson tells then whether it is valid.
  bool ReadObject(const std::string& plain, ArgsText& args_text) {
    // Of a parser that is kept, so is the memory.
    constexpr size_t kKeptBytesMax = 16 * 1024;
    constexpr size_t kDepthMax = 1000;  // IsJson's
    dom::parser large;
    dom::parser& parser = plain.size() <= kKeptBytesMax ? kept_ : large;
    if (parser.max_depth() != kDepthMax &&
        parser.allocate(std::min(plain.size(), kKeptBytesMax), kDepthMax) != simdjson::SUCCESS) {
      throw std::bad_alloc();
    }
    dom::element root;
    dom::object object;
    const simdjson::error_code parsed = parser.parse(plain).get(root);
    if (parsed == simdjson::MEMALLOC) throw std::bad_alloc();
    if (parsed != simdjson::SUCCESS || root.get_object().get(object) != simdjson::SUCCESS) {
      return false;
    }
    for (const dom::key_value_pair member : object) ReadMember(member.key, member.value, args_text);
    return true;
  }

  dom::parser kept_;
};

ArgsTextReader::ArgsTextReader() : impl_(std::make_unique<Impl>()) {}
ArgsTextReader::~ArgsTextReader() = default;

ArgsText ArgsTextReader::Read(std::string_view text) {
  ArgsText args_text;
  const size_t part = text.find(kPartMark);
  const std::string_view args = text.substr(0, part);
  if (part != std::string_view::npos) args_text.others = MinifiedJson(text.substr(part + 1));
  if (args.empty()) return args_text;
  const bool small = args.size() <= kReadBytesMax;
  if (small && impl_->ReadValid(args, args_text)) {
    args_text.args = MinifiedArgs(args);
    return args_text;
  }
  std::string mended;
  const JsonRepair repair = RepairArgs(args, mended);
  args_text.repaired = small || repair.text || repair.non_finite;
  if (small && !impl_->ReadValid(mended, args_text)) {
    if (std::string requoted; RequoteJson(args, requoted)) {
      RepairArgs(requoted, mended);
      if (impl_->ReadValid(mended, args_text)) {
        args_text.args = MinifiedJson(mended);
        return args_text;
      }
    }
    // Past mending: kept as a JSON string, so that it is still there to be read.
    args_text.args = QuotedArgs(args);
    return args_text;
  }
  args_text.args = MinifiedJson(mended);
  return args_text;
}

std::string FilledArgsText(std::string_view args_text, const ArgsValues& values) {
  std::string text;
  for (const char c : args_text) {
    if (!IsArgsMark(c)) {
      text += c;
      continue;
    }
    int column = 0;
    while (ArgsMark(column) != c) ++column;
    const auto s = static_cast<size_t>(column);
    text += (values.text_mask >> s & 1) != 0 ? std::string(values.texts[s])
                                             : std::to_string(values.ints[s]);
  }
  return text;
}

ArgsTextParts::ArgsTextParts(std::string_view filled) {
  const size_t part = filled.find(kPartMark);
  args = filled.substr(0, part);
  if (part != std::string_view::npos) others = filled.substr(part + 1);
}

std::optional<std::string> SortedRanks(std::string_view list) {
  std::vector<int64_t> ranks;
  const char* at = list.data();
  const char* const end = at + list.size();
  while (at != end) {
    if (*at == '[' || *at == ']' || *at == ',' || IsJsonBlank(*at)) {
      ++at;
      continue;
    }
    int64_t rank;
    const auto [next, error] = std::from_chars(at, end, rank);
    if (error != std::errc()) return std::nullopt;
    ranks.push_back(rank);
    at = next;
  }
  if (ranks.empty()) return std::nullopt;
  std::sort(ranks.begin(), ranks.end());
  std::string text = "[";
  for (const int64_t rank : ranks) {
    if (text.size() > 1) text += ',';
    text += std::to_string(rank);
  }
  return text + "]";
}

namespace {

struct Member {
  std::string_view key;    // as it stands in the text
  std::string_view whole;  // "key":value
};

// The members of a valid JSON object, without looking into their values.
std::vector<Member> Members(std::string_view object) {
  std::vector<Member> members;
  int depth = 0;
  bool in_string = false;
  bool escaped = false;
  size_t member_at = std::string_view::npos;
  size_t key_end = 0;
  const auto finish = [&](size_t end) {
    if (member_at == std::string_view::npos) return;
    const std::string_view whole = TrimJsonBlanks(object.substr(member_at, end - member_at));
    members.push_back({object.substr(member_at, key_end - member_at), whole});
    member_at = std::string_view::npos;
    key_end = 0;
  };
  for (size_t at = 0; at < object.size(); ++at) {
    const char c = object[at];
    if (in_string) {
      if (c == '"' && !escaped) {
        in_string = false;
        if (depth == 1 && key_end == 0) key_end = at + 1;
      }
      escaped = c == '\\' && !escaped;
    } else if (c == '"') {
      in_string = true;
      escaped = false;
      if (depth == 1 && member_at == std::string_view::npos) member_at = at;
    } else if (c == '{' || c == '[') {
      ++depth;
    } else if (c == '}' || c == ']') {
      if (--depth == 0) finish(at);
    } else if (c == ',' && depth == 1) {
      finish(at);
    }
  }
  return members;
}

}  // namespace

std::string MergedObjects(std::string_view first, std::string_view second) {
  const std::vector<Member> winners = Members(second);
  std::string merged = "{";
  const auto add = [&merged](std::string_view member) {
    if (merged.size() > 1) merged += ',';
    merged += member;
  };
  for (const Member& member : Members(first)) {
    const bool lost = std::any_of(winners.begin(), winners.end(),
                                  [&](const Member& winner) { return winner.key == member.key; });
    if (!lost) add(member.whole);
  }
  for (const Member& member : winners) add(member.whole);
  return merged + "}";
}

}  // namespace tracedb
