// One column of a result on its way into an Arrow stream. SQLite has a type for each value, Arrow
// one for a column: while nothing has been written the column widens to hold what comes (NULL,
// then integer, real, text); afterwards what does not fit is refused.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "text/arrow_messages.h"
#include "tracedb/text/result_sink.h"

namespace tracedb {

class ArrowColumn {
 public:
  // `expected` is what the query's header says of it; kNull: nothing.
  explicit ArrowColumn(SqlType expected) : type_(expected) {}

  // False: the column's type is written and cannot hold it.
  bool Add(const Cell& cell);
  // From now on the type stays. One that has had NULLs only becomes text, and takes nothing else.
  void Freeze();

  ArrowType type() const;
  size_t text_bytes() const { return text_.size(); }
  int64_t nulls() const { return nulls_; }
  // Its buffers (validity, offsets of text, values) after what is in `body`; the column is empty
  // afterwards.
  void TakeBuffers(std::string& body, std::vector<ArrowBuffer>& buffers);

 private:
  bool Widen(SqlType to);
  void AddPlace(bool is_null);
  void AddText(const Cell& cell);

  SqlType type_;
  bool frozen_ = false;
  bool only_nulls_ = false;  // when it was frozen
  int64_t rows_ = 0;
  int64_t nulls_ = 0;
  std::string validity_;        // a bit a row
  std::vector<int64_t> words_;  // integers, or the bits of reals
  std::vector<int32_t> ends_;   // of texts, in text_
  std::string text_;
};

// UTF-8 as it is; what is none becomes U+FFFD, for readers refuse all of a column with it.
void AppendUtf8(std::string& out, std::string_view text);

}  // namespace tracedb
