#include "cut/cut_event.h"

#include <fmt/format.h>

#include <charconv>

#include "cut/cut_text_check.h"
#include "cut/time_text.h"
#include "tracedb/json/json_check.h"
#include "tracedb/text/result_text.h"

namespace tracedb {
namespace {

constexpr std::string_view kEmpty = "\"\"";

constexpr int kIdColumn = static_cast<int>(ArgsColumn::kId);
constexpr int kFirstNamedColumn = static_cast<int>(ArgsColumn::kExternalId);
// From here on what a number was called stands in the text alone.
constexpr int kFirstSpareColumn = static_cast<int>(ArgsColumn::kValue1);

// Of a character: the column that it marks, or -1.
constexpr std::array<int8_t, 256> kColumnOf = [] {
  std::array<int8_t, 256> values{};
  values.fill(-1);
  for (int column = 0; column < static_cast<int>(kArgsColumnNames.size()); ++column) {
    values[static_cast<unsigned char>(ArgsMark(column))] = static_cast<int8_t>(column);
  }
  return values;
}();

void AppendInt(std::string& out, int64_t value) {
  std::array<char, 24> digits{};
  out.append(digits.data(), std::to_chars(digits.data(), digits.data() + 24, value).ptr);
}

// Whether it is an integer.
bool AppendValue(std::string& out, const CutRow& row, int column) {
  const int at = CutRow::ResultColumn(column);
  if (row.values->Type(at) == SqlType::kInteger) {
    AppendInt(out, row.values->Int(at));
    return true;
  }
  out += row.values->Text(at);
  return false;
}

// `text` with the row's numbers in place of the marks. Whether all were integers.
bool AppendFilled(std::string& out, std::string_view text, const CutRow& row, const IdSpace& ids) {
  bool integers = true;
  size_t copied = 0;
  for (size_t at = 0; at < text.size(); ++at) {
    const int column = kColumnOf[static_cast<unsigned char>(text[at])];
    if (column < 0) continue;
    out += text.substr(copied, at - copied);
    copied = at + 1;
    if (column == kIdColumn && ids.traces > 1) {
      const bool quoted = at > 0 && text[at - 1] == '"';
      AppendId(out, row.values->Text(CutRow::ResultColumn(column)), quoted, ids);
      integers = false;
    } else {
      integers &= AppendValue(out, row, column);
    }
  }
  out += text.substr(copied);
  return integers;
}

// An event's part that is not what it should be: its args and keys are texts of the database.
Error NoJson(const CutRow& row, const char* part) {
  return DamagedError(fmt::format("the {} of event {} are no JSON", part, row.id));
}

// Args of which only the numbers with names were kept.
Status AppendNamedValues(std::string& out, const CutRow& row) {
  const size_t before = out.size();
  bool integers = true;
  bool any = false;
  for (int column = kFirstNamedColumn; column < kFirstSpareColumn; ++column) {
    if (!row.HasValue(column)) continue;
    out += any ? ",\"" : ",\"args\":{\"";
    any = true;
    out += KeyOfColumn(static_cast<ArgsColumn>(column));
    out += "\":";
    integers &= AppendValue(out, row, column);
  }
  if (any) out += '}';
  const std::string_view members = std::string_view(out).substr(before);
  if (!integers && !AreJsonMembers(members.substr(1))) return NoJson(row, "args");
  return Done{};
}

void AppendTime(std::string& out, std::string_view key, std::optional<int64_t> ns) {
  if (!ns.has_value()) return;
  out += key;
  AppendMicros(out, *ns);
}

// The event's own keys beside those with a column, and the id alone where they were not kept.
Status AppendOthers(std::string& out, const CutRow& row, const CutArgsText* args_text,
                    const IdSpace& ids) {
  bool sound = true;
  const size_t before = out.size() + 1;
  if (args_text != nullptr && args_text->others.has_value()) {
    if (args_text->others->empty()) return Done{};
    out += ',';
    sound = AppendFilled(out, *args_text->others, row, ids) && args_text->others_sound;
  } else if (args_text == nullptr && row.HasValue(kIdColumn)) {
    const bool quoted = row.values->Type(CutRow::ResultColumn(kIdColumn)) == SqlType::kText;
    out += quoted ? ",\"id\":\"" : ",\"id\":";
    AppendId(out, row.values->Text(CutRow::ResultColumn(kIdColumn)), quoted, ids);
    if (quoted) out += '"';
    sound = false;
  }
  if (!sound && !AreJsonMembers(std::string_view(out).substr(before))) {
    return NoJson(row, "keys");
  }
  return Done{};
}

void AppendHead(std::string& out, char phase, const CutEventName& event_name,
                const EventPlace& place) {
  out += '{';
  if (phase != '?') {  // else the event's other keys have it
    out += "\"ph\":";
    AppendJsonText(out, {&phase, 1});
    out += ',';
  }
  if (event_name.category.has_value()) {
    out += "\"cat\":";
    out += event_name.category_json;
    out += ',';
  }
  out += "\"name\":";
  out += event_name.name_json;
  // Kineto gives an instant of the whole trace empty ones; counters and metadata have none then.
  const bool may_lack = phase == 'C' || phase == 'M';
  if (!may_lack || place.pid_json != kEmpty) {
    out += ",\"pid\":";
    out += place.pid_json;
  }
  if (!may_lack || place.tid_json != kEmpty) {
    out += ",\"tid\":";
    out += place.tid_json;
  }
}

// An instant of everything is one of all ranks in a file of several: it becomes its process's.
// `from`: where the event's other keys begin.
void KeepInProcess(std::string& out, size_t from) {
  constexpr std::string_view kGlobal = ",\"s\":\"g\"";
  int depth = 0;
  bool quoted = false;
  for (size_t at = from; at < out.size(); ++at) {
    const char c = out[at];
    if (quoted) {
      at += c == '\\' ? 1 : 0;
      quoted = c != '"';
      continue;
    }
    if (depth == 0 && std::string_view(out).substr(at).starts_with(kGlobal)) {
      out[at + kGlobal.size() - 2] = 'p';
      return;
    }
    quoted = c == '"';
    depth += c == '{' || c == '[' ? 1 : c == '}' || c == ']' ? -1 : 0;
  }
}

Status AppendArgs(std::string& out, const CutRow& row, const CutArgsText* args_text) {
  if (args_text == nullptr || !args_text->args.has_value()) return AppendNamedValues(out, row);
  out += ",\"args\":";
  const size_t before = out.size();
  const bool sound = AppendFilled(out, *args_text->args, row, {}) && args_text->args_sound;
  if (!sound && !IsJson(std::string_view(out).substr(before))) return NoJson(row, "args");
  return Done{};
}

// A wait for stream N, as Kineto writes it: complete events of such a thread have a stream.
bool IsSyncThread(const std::string& tid) {
  constexpr int64_t kSyncThreads = 1'000'000;
  int64_t number = 0;
  const auto [end, error] = std::from_chars(tid.data(), tid.data() + tid.size(), number);
  return error == std::errc() && end == tid.data() + tid.size() && number >= kSyncThreads;
}

}  // namespace

void AppendId(std::string& out, std::string_view id, bool quoted, const IdSpace& space) {
  if (space.traces == 1) {
    out += id;
    return;
  }
  const bool hex = quoted && id.starts_with("0x");
  const std::string_view digits = hex ? id.substr(2) : id;
  uint64_t number = 0;
  const auto [end, error] =
      std::from_chars(digits.data(), digits.data() + digits.size(), number, hex ? 16 : 10);
  uint64_t distinct = 0;
  const bool is_number = error == std::errc() && end == digits.data() + digits.size() &&
                         !__builtin_mul_overflow(number, uint64_t(space.traces), &distinct) &&
                         !__builtin_add_overflow(distinct, uint64_t(space.index), &distinct);
  if (is_number) {
    std::array<char, 24> text{};
    const auto last =
        std::to_chars(text.data(), text.data() + text.size(), distinct, hex ? 16 : 10);
    if (hex) out += "0x";
    out.append(text.data(), last.ptr);
    return;
  }
  // No number that others know how to read, so any text will do.
  if (!quoted) out += '"';
  for (const char c : id) {
    if (!quoted && (c == '"' || c == '\\')) out += '\\';
    out += c;
  }
  out += '.';
  AppendInt(out, space.index);
  if (!quoted) out += '"';
}

Result<CutEventText> CutEventText::Open(SqliteDb& db) {
  TRACEDB_ASSIGN(step, db.Prepare("SELECT 1 FROM _step WHERE id = ?1"));
  return CutEventText(std::move(step));
}

Result<CutEventText::Form> CutEventText::FormOf(const CutRow& row, const CutEventName& event_name,
                                                const CutTrack& track) {
  if (!IsSliceTable(row.table) || row.table == EventTable::kGpuSlice || !row.dur.has_value() ||
      !row.ts.has_value()) {
    return Form::kAsItIs;
  }
  const Form pair = row.HasValue(kIdColumn) ? Form::kAsyncPair : Form::kBeginEnd;
  if (event_name.sync && track.stream.has_value()) return Form::kAsItIs;
  if (event_name.step && row.table != EventTable::kRuntimeSlice) {
    TRACEDB_TRY(step_.Bind(1, row.id));
    TRACEDB_ASSIGN(is_step, step_.Step());
    step_.Reset();
    return is_step ? Form::kAsItIs : pair;
  }
  if (pair == Form::kAsyncPair || event_name.gpu_activity) return pair;
  return event_name.sync && IsSyncThread(track.tid) ? pair : Form::kAsItIs;
}

Status CutEventText::Append(std::string& out, Form form, const CutRow& row,
                            const CutEventName& event_name, const CutArgsText* args_text,
                            const EventPlace& place, const EventTimes& times, const IdSpace& ids) {
  const bool async = form == Form::kAsyncPair;
  const char phase = form == Form::kAsItIs ? row.phase : async ? 'b' : 'B';
  AppendHead(out, phase, event_name, place);
  AppendTime(out, ",\"ts\":", times.ts_ns);
  if (form == Form::kAsItIs && IsSliceTable(row.table)) {
    AppendTime(out, ",\"dur\":", times.dur_ns);
  }
  const size_t others = out.size();
  TRACEDB_TRY(AppendOthers(out, row, args_text, ids));
  if (ids.traces > 1 && row.table == EventTable::kInstant) KeepInProcess(out, others);
  TRACEDB_TRY(AppendArgs(out, row, args_text));
  out += '}';
  if (form == Form::kAsItIs) return Done{};
  out += ",\n";
  AppendHead(out, async ? 'e' : 'E', event_name, place);
  // Senseless times wrap, as in the views.
  const auto end_ns = static_cast<int64_t>(static_cast<uint64_t>(*times.ts_ns) +
                                           static_cast<uint64_t>(*times.dur_ns));
  AppendTime(out, ",\"ts\":", end_ns);
  if (async) TRACEDB_TRY(AppendOthers(out, row, args_text, ids));
  out += '}';
  return Done{};
}

}  // namespace tracedb
