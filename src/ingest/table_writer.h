// Rows -> the tables of a new database file that nobody else sees yet: bulk rows as pages, the
// rest through SQLite once the pages are there.
//
// The file becomes a database when FinishPages has succeeded; until then it is litter.
#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include "ingest/args_slots.h"
#include "ingest/event_category.h"
#include "ingest/shape_text.h"
#include "ingest/table_schema.h"
#include "tracedb/base/result.h"
#include "tracedb/pages/page_file.h"
#include "tracedb/pages/record_encoder.h"
#include "tracedb/pages/table_appender.h"

namespace tracedb {

struct EventRow {
  int64_t id = 0;
  int64_t track = 0;
  int64_t label = 0;
  std::optional<int64_t> ts;             // ns since the trace's origin; metadata: its own zero
  std::optional<int64_t> dur;            // slices
  char phase = 'X';                      // tables other than slices
  int64_t shape = 0;                     // 0: none
  GpuKind gpu_kind = GpuKind::kCompute;  // gpu_slice only
};

struct TrackRow {
  std::string_view pid, tid;
  std::optional<std::string_view> device, stream;
};

class TableWriter {
 public:
  // Makes `path`, which must not exist, with an empty schema.
  static Result<std::unique_ptr<TableWriter>> Create(const std::filesystem::path& path);

  // Ids of each table must rise.
  Status Event(EventTable table, const EventRow& row, const SlotValues& slots);
  Status Label(int64_t id, std::string_view name, std::optional<std::string_view> category,
               bool communication);
  Status Track(int64_t id, int64_t trace_id, const TrackRow& row);
  Status Shape(int64_t id, const ShapeText& shape);
  Status Step(int64_t id, int64_t track, int64_t step, int64_t ts, std::optional<int64_t> dur);

  // The pages are complete; the file is a sound database from here on.
  Status FinishPages();

 private:
  TableWriter() = default;

  std::unique_ptr<PageFile> file_;
  std::vector<TableAppender> events_;  // one an EventTable
  std::vector<TableAppender> texts_;   // label, track, shape, step
  RecordEncoder record_;
};

}  // namespace tracedb
