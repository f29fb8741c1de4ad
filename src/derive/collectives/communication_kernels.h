// The communication kernels of a trace, as they are known once their launches are: what
// _collective_part is made of.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <utility>

#include "tracedb/base/result.h"
#include "tracedb/memory/packed_rows.h"

namespace tracedb {

struct CommunicationKernel {
  int64_t id = 0;  // of its slice
  int64_t ts_ns = 0;
  std::optional<int64_t> dur_ns;
  int64_t args_text = 0;
  std::optional<int64_t> seq;  // args.Seq
  std::optional<int64_t> external_id;
  std::optional<int64_t> step;
  std::optional<int64_t> launch_ns;
  int64_t event_name = 0;
};

class CommunicationKernels {
 public:
  // `folder` is for what does not fit in `bytes_max`.
  CommunicationKernels(std::filesystem::path folder, size_t bytes_max)
      : rows_(std::move(folder), bytes_max) {}

  size_t count() const { return rows_.rows(); }
  Status Add(const CommunicationKernel& kernel) {
    const auto flag = [](const std::optional<int64_t>& value, int64_t bit) {
      return value.has_value() ? bit : 0;
    };
    return rows_.Add({kernel.id, kernel.ts_ns, kernel.dur_ns.value_or(0), kernel.args_text,
                      kernel.seq.value_or(0), kernel.external_id.value_or(0),
                      kernel.step.value_or(0), kernel.launch_ns.value_or(0), kernel.event_name,
                      flag(kernel.dur_ns, kHasDur) | flag(kernel.seq, kHasSeq) |
                          flag(kernel.external_id, kHasExternalId) | flag(kernel.step, kHasStep) |
                          flag(kernel.launch_ns, kHasLaunch)});
  }
  // In the order of their ids.
  template <typename Take>
  Status ForEach(Take take) const {
    return rows_.ForEach([&take](const Row& row) {
      const auto known = [&row](int64_t value, int64_t bit) {
        return (row.flags & bit) != 0 ? std::optional(value) : std::nullopt;
      };
      take(CommunicationKernel{row.id, row.ts_ns, known(row.dur_ns, kHasDur), row.args_text,
                               known(row.seq, kHasSeq), known(row.external_id, kHasExternalId),
                               known(row.step, kHasStep), known(row.launch_ns, kHasLaunch),
                               row.event_name});
    });
  }

 private:
  static constexpr int64_t kHasDur = 1;
  static constexpr int64_t kHasSeq = 2;
  static constexpr int64_t kHasExternalId = 4;
  static constexpr int64_t kHasStep = 8;
  static constexpr int64_t kHasLaunch = 16;
  struct Row {
    int64_t id, ts_ns, dur_ns, args_text, seq, external_id, step, launch_ns, event_name, flags;
  };

  PackedRows<Row> rows_;
};

}  // namespace tracedb
