#include "cut/cut_texts.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <string_view>

#include "cut/cut_text_check.h"
#include "tracedb/text/result_text.h"

namespace tracedb {
namespace {

char Lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; }

bool IsGpuCategory(std::string_view category) {
  constexpr std::array<std::string_view, 6> kCategories = {
      "kernel", "gpu_memcpy", "gpu_memset", "memcpy", "memset", "mtia_ccp_events"};
  return std::any_of(kCategories.begin(), kCategories.end(),
                     [&](std::string_view gpu) { return EqualsInAnyCase(gpu, category); });
}

// ProfilerStep#N, on the CPU's side.
bool IsStep(std::string_view name, std::string_view category) {
  constexpr std::string_view kPrefix = "ProfilerStep#";
  if (!name.starts_with(kPrefix) || category.starts_with("gpu_")) return false;
  name.remove_prefix(kPrefix.size());
  int64_t step = -1;
  const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), step);
  return error == std::errc() && end == name.data() + name.size() && step >= 0;
}

std::optional<std::string> TextIn(const SqliteStatement& row, int column) {
  if (row.Type(column) == SqlType::kNull) return std::nullopt;
  return std::string(row.Text(column));
}

}  // namespace

bool EqualsInAnyCase(std::string_view a, std::string_view b) {
  return a.size() == b.size() && std::equal(a.begin(), a.end(), b.begin(),
                                            [](char x, char y) { return Lower(x) == Lower(y); });
}

std::string IdJson(const std::string& text) {
  int64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error == std::errc() && end == text.data() + text.size() && std::to_string(number) == text) {
    return text;
  }
  std::string json;
  AppendJsonText(json, text);
  return json;
}

Error NotThere(std::string_view table, int64_t id) {
  return DamagedError(
      fmt::format("an event points at row {} of {}, which is not there", id, table));
}

template <>
CutEventName RowCache<CutEventName>::Read(const SqliteStatement& select, size_t& bytes) {
  CutEventName event_name;
  const std::string name(select.Text(0));
  event_name.category = TextIn(select, 1);
  AppendJsonText(event_name.name_json, name);
  if (event_name.category.has_value()) {
    AppendJsonText(event_name.category_json, *event_name.category);
    event_name.gpu_activity = IsGpuCategory(*event_name.category);
    event_name.sync = EqualsInAnyCase(*event_name.category, "cuda_sync");
  }
  event_name.step = IsStep(name, event_name.category.value_or(""));
  bytes += event_name.name_json.size() + 2 * event_name.category_json.size();
  return event_name;
}

template <>
CutTrack RowCache<CutTrack>::Read(const SqliteStatement& select, size_t& bytes) {
  CutTrack track;
  track.pid = select.Text(0);
  track.tid = select.Text(1);
  track.pid_json = IdJson(track.pid);
  track.tid_json = IdJson(track.tid);
  track.stream = TextIn(select, 2);
  bytes += 2 * (track.pid.size() + track.tid.size());
  return track;
}

template <>
CutArgsText RowCache<CutArgsText>::Read(const SqliteStatement& select, size_t& bytes) {
  CutArgsText args_text;
  args_text.args = TextIn(select, 0);
  args_text.others = TextIn(select, 1);
  args_text.args_sound = args_text.args.has_value() && IsSoundWithIntegers(*args_text.args, false);
  args_text.others_sound =
      args_text.others.has_value() && IsSoundWithIntegers(*args_text.others, true);
  bytes += (args_text.args ? args_text.args->size() : 0) +
           (args_text.others ? args_text.others->size() : 0);
  return args_text;
}

Result<CutTexts> CutTexts::Open(SqliteDb& db) {
  TRACEDB_ASSIGN(event_names, RowCache<CutEventName>::Open(db, "_event_name", "name, category"));
  TRACEDB_ASSIGN(tracks, RowCache<CutTrack>::Open(db, "_track", "pid, tid, stream"));
  TRACEDB_ASSIGN(args_texts, RowCache<CutArgsText>::Open(db, "_args_text", "args, others"));
  return CutTexts(std::move(event_names), std::move(tracks), std::move(args_texts));
}

}  // namespace tracedb
