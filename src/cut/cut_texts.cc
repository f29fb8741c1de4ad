#include "cut/cut_texts.h"

#include <algorithm>
#include <array>
#include <charconv>

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

template <>
CutLabel RowCache<CutLabel>::Read(const SqliteStatement& select, size_t& bytes) {
  CutLabel label;
  const std::string name(select.Text(0));
  label.category = TextIn(select, 1);
  AppendJsonText(label.name_json, name);
  if (label.category.has_value()) {
    AppendJsonText(label.category_json, *label.category);
    label.gpu_activity = IsGpuCategory(*label.category);
    label.sync = EqualsInAnyCase(*label.category, "cuda_sync");
  }
  label.step = IsStep(name, label.category.value_or(""));
  bytes += label.name_json.size() + 2 * label.category_json.size();
  return label;
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
CutShape RowCache<CutShape>::Read(const SqliteStatement& select, size_t& bytes) {
  CutShape shape;
  shape.args = TextIn(select, 0);
  shape.others = TextIn(select, 1);
  bytes += (shape.args ? shape.args->size() : 0) + (shape.others ? shape.others->size() : 0);
  return shape;
}

Result<CutTexts> CutTexts::Open(SqliteDb& db) {
  TRACEDB_ASSIGN(labels,
                 RowCache<CutLabel>::Open(db, "SELECT name, category FROM label WHERE id = ?1"));
  TRACEDB_ASSIGN(tracks,
                 RowCache<CutTrack>::Open(db, "SELECT pid, tid, stream FROM track WHERE id = ?1"));
  TRACEDB_ASSIGN(shapes,
                 RowCache<CutShape>::Open(db, "SELECT args, others FROM shape WHERE id = ?1"));
  return CutTexts(std::move(labels), std::move(tracks), std::move(shapes));
}

}  // namespace tracedb
