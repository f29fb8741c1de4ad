// NVTX ranges and marks of an export. Those that PyTorch writes for its operators
// (torch.autograd.profiler.emit_nvtx) become operators again.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "sources/nsys/part_reading.h"

namespace tracedb {

inline constexpr const char* kRangeTable = "NVTX_EVENTS";

// "aten::copy_, seq = 45677, op_id = 991731, sizes = [[2, 3]]"
struct EmittedOp {
  std::string_view name;
  std::optional<int64_t> sequence;
  std::optional<int64_t> op_id;
  std::string_view sizes;      // JSON; empty: none
  std::string_view input_ops;  // JSON; empty: none
};
// None: it is no operator's text, or would not be the same put together again.
std::optional<EmittedOp> ReadEmittedOp(std::string_view whole);

class RangeRows final : public TableRows {
 public:
  explicit RangeRows(const ExportTables& tables);
  std::string Sql(const PartReading& part) const override;
  void Write(const SqliteStatement& row, PartReading& part, EventJson& out) override;

 private:
  OtherColumns others_;
};

}  // namespace tracedb
