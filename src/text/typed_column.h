// One column of a result on its way into a format that has one type for a column (Arrow, Parquet).
// SQLite has a type for each value: until the first batch is taken the column widens to hold what
// comes (NULL, then integer, real, text); afterwards what does not fit is refused.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "tracedb/text/result_sink.h"

namespace tracedb {

class TypedColumn {
 public:
  // `expected` is what the query's header says of it; kNull: nothing.
  explicit TypedColumn(SqlType expected) : type_(expected) {}

  // False: the column's type is written and cannot hold it.
  bool Add(const Cell& cell);

  // From now on the type stays. A column that has had NULLs only stays open: its next value says
  // what it is.
  void Freeze() { frozen_ = type_ != SqlType::kNull; }
  // The same, but NULLs only become text, and it takes nothing else.
  void FreezeAsText();
  // The batch has been taken.
  void Clear();

  // kNull: it has had NULLs only.
  SqlType type() const { return type_; }
  int64_t nulls() const { return nulls_; }
  size_t rows() const { return static_cast<size_t>(rows_); }
  const std::string& validity() const { return validity_; }  // a bit a row
  bool IsNull(size_t row) const {
    return (static_cast<unsigned char>(validity_[row / 8]) >> (row % 8) & 1u) == 0;
  }
  const std::vector<int64_t>& words() const { return words_; }  // integers, or the bits of reals
  const std::vector<int32_t>& ends() const { return ends_; }    // of texts and blobs, in text()
  const std::string& text() const { return text_; }

 private:
  bool Widen(SqlType to);
  void AddPlace(bool is_null);
  void AddText(const Cell& cell);

  SqlType type_;
  bool frozen_ = false;
  bool only_nulls_ = false;  // when it was frozen
  int64_t rows_ = 0;
  int64_t nulls_ = 0;
  std::string validity_;
  std::vector<int64_t> words_;
  std::vector<int32_t> ends_;
  std::string text_;
};

// UTF-8 as it is; what is none becomes U+FFFD, for readers refuse all of a column with it.
void AppendUtf8(std::string& out, std::string_view text);

// Of a value that Add() has refused, in this row (from 1). `format` is "Arrow".
Error DoesNotFit(std::string_view format, std::string_view column, int64_t row, const Cell& cell);

}  // namespace tracedb
