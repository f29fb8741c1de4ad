// Records of the tables that have a row for each text, and of steps.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "ingest/build/args_text.h"
#include "tracedb/pages/record_encoder.h"

namespace tracedb {

struct TrackRow {
  std::string_view pid, tid;
  std::optional<std::string_view> device, stream;
};

// A record stays valid until the next one is made.
class TextRecords {
 public:
  using Record = std::span<const uint8_t>;

  Record EventName(std::string_view name, std::optional<std::string_view> category,
                   bool communication);
  Record Track(int64_t trace_id, const TrackRow& row);
  Record Args(const ArgsText& args_text);
  Record Step(int64_t track, int64_t step, int64_t ts, std::optional<int64_t> dur);

 private:
  RecordEncoder record_;
};

}  // namespace tracedb
