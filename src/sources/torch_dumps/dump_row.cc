#include "sources/torch_dumps/dump_row.h"

namespace tracedb {

DumpRow& DumpRow::Add(std::optional<std::string_view> value) {
  if (!value.has_value()) return Note(statement_.BindNull(++bound_));
  if (rows_->text_bytes + value->size() > rows_->text_bytes_max) {
    rows_->issues.Add("text_left_out", 0, *value);
    return Note(statement_.BindNull(++bound_));
  }
  rows_->text_bytes += value->size();
  return Note(statement_.Bind(++bound_, *value));
}

DumpRow& DumpRow::Add(const PlainValues& values, ValueId value) {
  constexpr int kDepthMax = 8;
  constexpr size_t kJsonBytesMax = size_t{1} << 20;
  switch (values.kind(value)) {
    case ValueKind::kNone:
      return Note(statement_.BindNull(++bound_));
    case ValueKind::kBool:
      return Add(int64_t{*values.BoolOf(value) ? 1 : 0});
    case ValueKind::kInt:
      return Add(values.IntOf(value));
    case ValueKind::kReal:
      return Add(values.NumberOf(value));
    case ValueKind::kText:
      return Add(values.TextOf(value));
    case ValueKind::kList:
    case ValueKind::kDict:
      break;
  }
  const auto json = values.Json(value, kDepthMax, kJsonBytesMax);
  if (!json.has_value()) rows_->issues.Add("text_left_out", 0, "");
  return Add(json);
}

}  // namespace tracedb
