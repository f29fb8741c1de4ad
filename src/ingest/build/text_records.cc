#include "ingest/build/text_records.h"

namespace tracedb {
namespace {

void AddInt(RecordEncoder& record, const std::optional<int64_t>& value) {
  if (value.has_value()) {
    record.Int(*value);
  } else {
    record.Null();
  }
}

void AddText(RecordEncoder& record, const std::optional<std::string_view>& text) {
  if (text.has_value()) {
    record.Text(*text);
  } else {
    record.Null();
  }
}

}  // namespace

TextRecords::Record TextRecords::EventName(std::string_view name,
                                           std::optional<std::string_view> category,
                                           bool communication) {
  record_.Reset();
  record_.Null();
  record_.Text(name);
  AddText(record_, category);
  record_.Int(communication ? 1 : 0);
  return record_.Finish();
}

TextRecords::Record TextRecords::Track(int64_t trace_id, const TrackRow& row) {
  record_.Reset();
  record_.Null();
  record_.Int(trace_id);
  record_.Text(row.pid);
  record_.Text(row.tid);
  for (const auto& number : {row.device, row.stream}) {
    number.has_value() ? record_.NumberOrText(*number) : record_.Null();
  }
  return record_.Finish();
}

TextRecords::Record TextRecords::Args(const ArgsText& args_text) {
  record_.Reset();
  record_.Null();
  AddText(record_, args_text.args);
  AddText(record_, args_text.others);
  AddText(record_, args_text.collective);
  AddText(record_, args_text.dtype);
  AddInt(record_, args_text.in_nelems);
  AddInt(record_, args_text.out_nelems);
  AddText(record_, args_text.group_name);
  AddText(record_, args_text.group_description);
  AddText(record_, args_text.group_ranks);
  AddInt(record_, args_text.group_size);
  AddInt(record_, args_text.src_rank);
  AddInt(record_, args_text.dst_rank);
  AddText(record_, args_text.grid);
  AddText(record_, args_text.block);
  AddInt(record_, args_text.registers);
  AddInt(record_, args_text.shared_memory_bytes);
  if (args_text.occupancy_pct.has_value()) {
    record_.Real(*args_text.occupancy_pct);
  } else {
    record_.Null();
  }
  AddInt(record_, args_text.device_type);
  AddInt(record_, args_text.device_id);
  return record_.Finish();
}

TextRecords::Record TextRecords::Step(int64_t track, int64_t step, int64_t ts,
                                      std::optional<int64_t> dur) {
  record_.Reset();
  record_.Null();
  record_.Int(track);
  record_.Int(step);
  record_.Int(ts);
  AddInt(record_, dur);
  return record_.Finish();
}

}  // namespace tracedb
