// Documentation and rows of a result as HTML.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tracedb/text/result_sink.h"

namespace tracedb {

// A paragraph for each that the text parts with an empty line; `code` in it as such.
std::string HtmlParagraphs(std::string_view text);

// Gathers a result as a <table>; long texts are cut, with the whole text as their title, and
// numbers rounded as in a terminal: CSV has every digit.
class HtmlTable : public RowSink {
 public:
  Status Begin(std::span<const std::string> column_names) override;
  Status Row(std::span<const Cell> cells) override;
  Status End() override;
  Status Caption(std::string_view text) override;

  int64_t rows() const { return rows_; }
  const std::string& html() const { return html_; }  // whole after End

 private:
  std::string html_;
  std::string caption_;
  std::vector<std::string> names_;
  std::vector<bool> is_number_;  // by column: some number is in it
  size_t names_at_ = 0;          // in html_, where the names go in once it is known what they name
  int64_t rows_ = 0;
};

}  // namespace tracedb
