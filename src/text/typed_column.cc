#include "text/typed_column.h"

#include <fmt/format.h>

#include <bit>
#include <cstring>
#include <utility>

#include "tracedb/text/result_sinks.h"
#include "tracedb/text/result_text.h"

namespace tracedb {
namespace {

constexpr int64_t kExactInDouble = int64_t{1} << 53;

bool IsExactInDouble(int64_t value) { return value >= -kExactInDouble && value <= kExactInDouble; }

bool IsAscii(std::string_view text) {
  uint64_t bits = 0;
  size_t i = 0;
  for (; i + 8 <= text.size(); i += 8) {
    uint64_t word;
    std::memcpy(&word, text.data() + i, 8);
    bits |= word;
  }
  for (; i < text.size(); ++i) bits |= static_cast<unsigned char>(text[i]);
  return (bits & 0x8080808080808080u) == 0;
}

}  // namespace

void AppendUtf8(std::string& out, std::string_view text) {
  if (IsAscii(text)) {
    out += text;
    return;
  }
  while (!text.empty()) {
    const Utf8Character character = ReadUtf8(text);
    out += character.valid ? text.substr(0, character.bytes) : "\xEF\xBF\xBD";
    text.remove_prefix(character.bytes);
  }
}

void TypedColumn::FreezeAsText() {
  only_nulls_ = type_ == SqlType::kNull;
  if (only_nulls_) Widen(SqlType::kText);
  frozen_ = true;
}

void TypedColumn::Clear() {
  rows_ = nulls_ = 0;
  validity_.clear();
  words_.clear();
  ends_.clear();
  text_.clear();
}

// Those that are in it become what the wider type has for them. False: it would lose something.
bool TypedColumn::Widen(SqlType to) {
  if (frozen_) return false;
  const SqlType from = std::exchange(type_, to);
  if (from == SqlType::kNull) {  // NULLs so far
    const auto rows = static_cast<size_t>(rows_);
    if (to == SqlType::kInteger || to == SqlType::kReal) {
      words_.assign(rows, 0);
    } else {
      ends_.assign(rows, 0);
    }
    return true;
  }
  if (from == SqlType::kInteger && to == SqlType::kReal) {
    for (const int64_t word : words_) {
      if (IsExactInDouble(word)) continue;
      type_ = from;
      return Widen(SqlType::kText);
    }
    for (int64_t& word : words_) {
      word = std::bit_cast<int64_t>(static_cast<double>(word));
    }
    return true;
  }
  const std::vector<int64_t> words = std::exchange(words_, {});
  const std::vector<int32_t> ends = std::exchange(ends_, {});
  const std::string text = std::exchange(text_, {});
  int32_t begin = 0;
  for (size_t i = 0; i < static_cast<size_t>(rows_); ++i) {
    const bool is_null = IsNull(i);
    if (!is_null && from == SqlType::kInteger) {
      AppendCell(text_, {SqlType::kInteger, words[i], 0, {}});
    } else if (!is_null && from == SqlType::kReal) {
      AppendReal(text_, std::bit_cast<double>(words[i]));
    } else if (!is_null) {  // a blob
      AppendHex(text_, std::string_view(text).substr(static_cast<size_t>(begin),
                                                     static_cast<size_t>(ends[i] - begin)));
    }
    if (!ends.empty()) begin = ends[i];
    ends_.push_back(static_cast<int32_t>(text_.size()));
  }
  return true;
}

void TypedColumn::AddPlace(bool is_null) {
  if (rows_ % 8 == 0) validity_ += '\0';
  if (is_null) {
    ++nulls_;
  } else {
    validity_.back() = static_cast<char>(validity_.back() | (1 << (rows_ % 8)));
  }
  ++rows_;
}

void TypedColumn::AddText(const Cell& cell) {
  if (type_ == SqlType::kBlob) {
    text_ += cell.text;
  } else if (cell.type == SqlType::kText) {
    AppendUtf8(text_, cell.text);
  } else {
    AppendCell(text_, cell);
  }
  ends_.push_back(static_cast<int32_t>(text_.size()));
}

bool TypedColumn::Add(const Cell& cell) {
  const bool is_null = cell.type == SqlType::kNull;
  if (!is_null && only_nulls_ && cell.type != SqlType::kText) return false;
  if (!is_null && cell.type != type_ && type_ != SqlType::kText) {
    const bool takes =
        type_ == SqlType::kReal && cell.type == SqlType::kInteger && IsExactInDouble(cell.integer);
    const bool as_real = type_ == SqlType::kInteger && cell.type == SqlType::kReal;
    const SqlType wanted = type_ == SqlType::kNull || as_real ? cell.type : SqlType::kText;
    if (!takes && !Widen(wanted)) return false;
  }
  AddPlace(is_null);
  switch (type_) {
    case SqlType::kNull:
      break;
    case SqlType::kInteger:
      words_.push_back(cell.integer);
      break;
    case SqlType::kReal: {
      const double real =
          cell.type == SqlType::kInteger ? static_cast<double>(cell.integer) : cell.real;
      words_.push_back(std::bit_cast<int64_t>(real));
      break;
    }
    case SqlType::kText:
    case SqlType::kBlob:
      AddText(cell);
      break;
  }
  return true;
}

Error DoesNotFit(std::string_view format, std::string_view column, int64_t row, const Cell& cell) {
  std::string value;
  AppendCell(value, cell);
  return Error{
      ErrorKind::kQuery,
      fmt::format("column '{}' has another type in row {} ('{}') than in those before",
                  ShownText(column), row, CutToWidth(ShownText(value), 40, "...")),
      fmt::format("a column of {} has one type: CAST it in the SQL, or --format ndjson", format)};
}

}  // namespace tracedb
