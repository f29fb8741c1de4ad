// A result as a JSON object for the page, column by column: the page is smaller than with an object
// a row.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "tracedb/query/doc/query_doc.h"
#include "tracedb/text/result_sink.h"

namespace tracedb {

// {"rows":2,"rows_found":7,"columns":[{"name":"rank","type":"int","unit":"id","about":"The rank.",
// "values":[0,1]},{"name":"kind",...,"texts":["compute"],"values":[0,0]}]}: a text column's values
// are places in its `texts`, -1 one that did not fit. NULL is null. Texts are cut and made visible
// (ShownText): they are anybody's.
class ReportResult : public RowSink {
 public:
  static constexpr size_t kTextBytesMax = 600;       // of a name; a list of numbers is never cut
  static constexpr size_t kTextsBytesMax = 200'000;  // of a column, each text once

  // Keeps the first `rows_max` rows, and no more once they take `bytes_max`; counts all. `doc` must
  // outlive this.
  ReportResult(const QueryDoc& doc, int64_t rows_max, size_t bytes_max)
      : doc_(doc), rows_max_(rows_max), bytes_max_(bytes_max) {}

  Status Begin(std::span<const std::string> column_names) override;
  Status Row(std::span<const Cell> cells) override;
  Status End() override { return Done{}; }

  int64_t rows_found() const { return rows_found_; }
  std::string Json() const { return Json(bytes_max_); }
  // As if so many bytes, at most those of the constructor, had been the bound from the start.
  std::string Json(size_t bytes_max) const;

 private:
  struct Place {
    size_t values = 0;  // bytes of the column's before a row
    size_t texts = 0;
  };
  struct TextPlace {
    size_t place = 0;
    bool is_as_is = false;  // this text is shown as it is, and need not be made visible again
  };
  struct TextHash {
    using is_transparent = void;
    size_t operator()(std::string_view text) const { return std::hash<std::string_view>()(text); }
  };
  struct Column {
    bool is_text = false;
    bool is_delta = false;
    int64_t last = 0;  // of is_delta
    std::string values;
    std::string texts;
    std::unordered_map<std::string, TextPlace, TextHash, std::equal_to<>> places;  // as shown
    std::vector<Place> begins;                                                     // of each row
  };
  static void AddText(Column& column, std::string_view text);
  size_t Bytes() const;

  const QueryDoc& doc_;
  const int64_t rows_max_;
  const size_t bytes_max_;
  int64_t rows_ = 0;
  int64_t rows_found_ = 0;
  std::vector<Column> columns_;
};

// JSON that cannot end the element it stands in: '<' is in its texts alone.
std::string WithoutTags(std::string_view json);

// Hands on one row for each rank and device: `step` and shares NULL, `start_ms` the least, other
// numbers summed. For a result with a row a step, of which a chart shows the sums.
class StepSums : public RowSink {
 public:
  // `doc` has columns rank and device. Both must outlive this.
  StepSums(const QueryDoc& doc, RowSink& next) : doc_(doc), next_(next) {}

  Status Begin(std::span<const std::string> column_names) override;
  Status Row(std::span<const Cell> cells) override;
  Status End() override;

 private:
  struct Sums {
    std::string run;
    Cell rank;
    std::string device;
    std::vector<double> numbers;
  };

  const QueryDoc& doc_;
  RowSink& next_;
  std::unordered_map<std::string, size_t> places_;
  std::vector<Sums> sums_;  // in the order of their first rows
};

// As JSON: name:"text", with a comma in front when `out` ends in a value.
void AppendJsonField(std::string& out, std::string_view name, std::string_view text);

}  // namespace tracedb
