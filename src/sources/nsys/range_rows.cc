#include "sources/nsys/range_rows.h"

#include <algorithm>

#include "sources/read/text_words.h"

namespace tracedb {
namespace {

enum RangeColumn { kStart, kEnd, kType, kText, kTid, kEndTid, kTextId, kDomain, kRangeOthers };

constexpr std::string_view kColumns[] = {"start",     "end",          "eventType", "text",
                                         "globalTid", "endGlobalTid", "textId",    "domainId"};
constexpr std::string_view kPayload[] = {"binaryData"};

constexpr int64_t kPushPop = 59;
constexpr int64_t kStartEnd = 60;

// Only what would be written the same again.
std::optional<int64_t> NumberAsWritten(std::string_view digits) {
  const auto number = WholeNumber(digits);
  if (!number.has_value() || *number < 0 || std::to_string(*number) != digits) return std::nullopt;
  return number;
}

// Lists of lists of numbers, written as PyTorch does: "[[2, 3], [], [1]]".
bool IsNumberLists(std::string_view text) {
  int depth = 0;
  for (size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    const char before = i == 0 ? '\0' : text[i - 1];
    const char after = i + 1 < text.size() ? text[i + 1] : '\0';
    const bool digit = c >= '0' && c <= '9';
    if (c == '[') {
      ++depth;
      if (before != '\0' && before != '[' && before != ' ') return false;
    } else if (c == ']') {
      if (--depth < 0 || before == ',' || before == ' ' || before == '-') return false;
      if (depth == 0) return i + 1 == text.size();
    } else if (c == ',') {
      if (after != ' ' || before == '[' || before == ',') return false;
    } else if (c == ' ') {
      if (before != ',' || (after != '[' && after != '-' && (after < '0' || after > '9'))) {
        return false;
      }
    } else if (c == '-') {
      if ((before != '[' && before != ' ') || after < '1' || after > '9') return false;
    } else if (!digit) {
      return false;
    } else if (before == ']' ||
               (c == '0' && (before == '[' || before == ' ') && after >= '0' && after <= '9')) {
      return false;
    }
    if (depth == 0) return false;
  }
  return false;
}

// Takes ", key = value" off the end of `text`; the value is empty where it does not end so.
std::string_view TakeLast(std::string_view& text, std::string_view key) {
  const size_t at = text.rfind(key);
  if (at == std::string_view::npos || at == 0) return {};
  const std::string_view value = text.substr(at + key.size());
  text = text.substr(0, at);
  return value;
}

}  // namespace

std::optional<EmittedOp> ReadEmittedOp(const std::string_view whole) {
  constexpr std::string_view kSequence = ", seq = ";
  constexpr std::string_view kOpId = ", op_id = ";
  constexpr std::string_view kSizes = ", sizes = ";
  constexpr std::string_view kInputOps = ", input_op_ids = ";
  if (whole.find(kSequence) == std::string_view::npos &&
      whole.find(kOpId) == std::string_view::npos) {
    return std::nullopt;
  }
  std::string_view text = whole;
  EmittedOp op;
  op.input_ops = TakeLast(text, kInputOps);
  if (!op.input_ops.empty() && !IsNumberLists(op.input_ops)) return std::nullopt;
  op.sizes = TakeLast(text, kSizes);
  if (!op.sizes.empty() && !IsNumberLists(op.sizes)) return std::nullopt;
  const std::string_view op_id = TakeLast(text, kOpId);
  if (!op_id.empty() && !(op.op_id = NumberAsWritten(op_id)).has_value()) return std::nullopt;
  const std::string_view sequence = TakeLast(text, kSequence);
  if (!sequence.empty() && !(op.sequence = NumberAsWritten(sequence)).has_value())
    return std::nullopt;
  if (!op.sequence.has_value() && !op.op_id.has_value()) return std::nullopt;
  const auto bytes = [](std::string_view key, std::string_view value) {
    return value.empty() ? 0 : key.size() + value.size();
  };
  if (text.size() + bytes(kSequence, sequence) + bytes(kOpId, op_id) + bytes(kSizes, op.sizes) +
          bytes(kInputOps, op.input_ops) !=
      whole.size()) {
    return std::nullopt;
  }
  op.name = text;
  return op;
}

RangeRows::RangeRows(const ExportTables& tables)
    : others_(tables, kRangeTable, kColumns, kPayload) {}

std::string RangeRows::Sql(const PartReading& part) const {
  return "SELECT " + part.tables().Select(kRangeTable, kColumns) + others_.Select() + " FROM " +
         kRangeTable + " WHERE " + part.Condition(kRangeTable);
}

void RangeRows::Write(const SqliteStatement& row, PartReading& part, EventJson& out) {
  const auto start = IntIn(row, kStart);
  if (!start.has_value()) return part.Unusable(kRangeTable, "start is no number");
  const auto end = IntIn(row, kEnd);
  const auto type = IntIn(row, kType);
  // Where the type is not told what has an end is a range.
  const bool is_range =
      type.has_value() ? *type == kPushPop || *type == kStartEnd : end.has_value();
  std::string name;
  std::optional<EmittedOp> op;
  if (row.Type(kText) == SqlType::kText) {
    const std::string_view text = row.Text(kText);
    if (is_range) op = ReadEmittedOp(text);
    AppendJsonInside(name, op.has_value() ? op->name : text);
  } else if (const std::string* const text = part.Text(IntIn(row, kTextId)); text != nullptr) {
    if (is_range) op = ReadEmittedOp(*text);
    name = op.has_value() ? op->name : *text;
  }
  const int64_t tid = IntIn(row, kTid).value_or(0);
  out.Begin(is_range ? 'X' : 'i',
            !is_range        ? "nvtx"
            : op.has_value() ? "cpu_op"
                             : "user_annotation",
            name);
  out.Track(PidOf(tid), TidOf(tid));
  out.Time(*start);
  if (is_range) out.Duration(*start, end);
  if (op.has_value()) {
    out.Arg("Record function id", op->op_id);
    out.Arg("Sequence number", op->sequence);
    if (!op->sizes.empty()) out.ArgJson("Input Dims", op->sizes);
    if (!op->input_ops.empty()) out.ArgJson("input_op_ids", op->input_ops);
  }
  if (type.has_value() && *type != kPushPop) out.Arg("eventType", *type);
  const auto domain = IntIn(row, kDomain);
  if (domain.value_or(0) != 0) out.Arg("domainId", *domain);
  const auto end_tid = IntIn(row, kEndTid);
  if (end_tid.has_value() && *end_tid != tid) out.Arg("endGlobalTid", *end_tid);
  others_.Write(row, kRangeOthers, out);
  out.End();
}

}  // namespace tracedb
