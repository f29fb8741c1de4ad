// Leaves out the columns run and capture of a result for people where they have one value in all
// rows, and says so above it: "run megatron, capture 1". CSV and the like keep them always.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "tracedb/text/result_sink.h"

namespace tracedb {

// Holds the first rows back; a result with more than kHeldRowsMax goes on as it is.
class SameRuns : public RowSink {
 public:
  static constexpr size_t kHeldRowsMax = 1000;

  // `inner` must outlive it.
  explicit SameRuns(RowSink& inner) : inner_(&inner) {}

  Status Begin(std::span<const std::string> column_names) override;
  Status Row(std::span<const Cell> cells) override;
  Status End() override;

 private:
  struct HeldCell {
    Cell cell;
    std::string text;
  };

  Status PassOn(const std::vector<size_t>& columns);

  RowSink* inner_;
  std::vector<std::string> names_;
  std::optional<std::vector<std::vector<HeldCell>>> held_;  // none: rows are passed on
};

}  // namespace tracedb
