#include "sources/torch_dumps/memory_snapshot.h"

#include "sources/torch_dumps/dump_row.h"
#include "sources/torch_dumps/dump_stacks.h"
#include "sources/torch_dumps/dump_values.h"
#include "tracedb/ingest/read/rank_in_name.h"

namespace tracedb {
namespace {

class SnapshotRows {
 public:
  static Result<SnapshotRows> Open(SourceRows& rows, const PlainValues& values) {
    TRACEDB_ASSIGN(stacks, DumpStacks::Open(rows, values));
    TRACEDB_ASSIGN(segment, DumpRow::Open(rows,
                                          "INSERT INTO _memory_segment VALUES (?1, ?2, ?3, ?4, "
                                          "?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13)"));
    TRACEDB_ASSIGN(block, DumpRow::Open(rows,
                                        "INSERT INTO _memory_block VALUES (?1, ?2, ?3, "
                                        "?4, ?5, ?6, ?7, ?8)"));
    TRACEDB_ASSIGN(entry, DumpRow::Open(rows,
                                        "INSERT INTO _memory_trace_entry VALUES (?1, ?2, "
                                        "?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11)"));
    TRACEDB_ASSIGN(note, DumpRow::Open(rows,
                                       "INSERT INTO _memory_snapshot_note VALUES (?1, "
                                       "?2, ?3)"));
    return SnapshotRows(rows, values, std::move(stacks), std::move(segment), std::move(block),
                        std::move(entry), std::move(note));
  }

  Status AddSegment(ValueId segment) {
    ++segments_;
    TRACEDB_ASSIGN(stack, stacks_.NumberOf(At(segment, "frames")));
    segment_.Add(rows_.source_id).Add(segments_);
    for (const std::string_view key :
         {"device", "address", "total_size", "allocated_size", "active_size", "requested_size",
          "stream", "segment_type", "is_expandable"}) {
      segment_.Add(values_, At(segment, key));
    }
    segment_.Add(stack).Add(OthersOf(
        rows_, values_, segment,
        {"device", "address", "total_size", "allocated_size", "active_size", "requested_size",
         "stream", "segment_type", "is_expandable", "frames", "blocks"}));
    TRACEDB_TRY(segment_.Write());
    ++rows_.rows;
    return AddBlocks(segment);
  }

  Status AddEntry(int64_t device, ValueId entry) {
    ++entries_;
    TRACEDB_ASSIGN(stack, stacks_.NumberOf(At(entry, "frames")));
    const auto time_us = values_.NumberOf(At(entry, "time_us"));
    std::optional<int64_t> at_ns;
    if (time_us.has_value() && *time_us > 0 && *time_us < 9e15) {
      at_ns = static_cast<int64_t>(*time_us * 1000);
      if (const auto whole_us = values_.IntOf(At(entry, "time_us"))) at_ns = *whole_us * 1000;
      rows_.SawTime(*at_ns);
    }
    entry_.Add(rows_.source_id).Add(entries_).Add(device);
    for (const std::string_view key : {"action", "addr", "size", "stream"}) {
      entry_.Add(values_, At(entry, key));
    }
    entry_.Add(at_ns)
        .Add(values_, At(entry, "device_free"))
        .Add(stack)
        .Add(OthersOf(rows_, values_, entry,
                      {"action", "addr", "size", "stream", "time_us", "device_free", "frames"}));
    ++rows_.rows;
    return entry_.Write();
  }

  Status AddNote(std::string_view name, ValueId value) {
    note_.Add(rows_.source_id).Add(std::optional(name)).Add(values_, value);
    return note_.Write();
  }

 private:
  SnapshotRows(SourceRows& rows, const PlainValues& values, DumpStacks stacks, DumpRow segment,
               DumpRow block, DumpRow entry, DumpRow note)
      : rows_(rows),
        values_(values),
        stacks_(std::move(stacks)),
        segment_(std::move(segment)),
        block_(std::move(block)),
        entry_(std::move(entry)),
        note_(std::move(note)) {}

  ValueId At(ValueId dict, std::string_view key) const { return values_.At(dict, key); }

  // Where a block lies follows from those before it where it is not said, and its stack is in its
  // history, in dumps of before PyTorch 2.1.
  Status AddBlocks(ValueId segment) {
    std::optional<int64_t> next = values_.IntOf(At(segment, "address"));
    for (const ValueId block : values_.ItemsOf(At(segment, "blocks"))) {
      ++blocks_;
      ValueId frames = At(block, "frames");
      const std::span<const ValueId> history = values_.ItemsOf(At(block, "history"));
      if (values_.kind(frames) == ValueKind::kNone && !history.empty()) {
        frames = At(history.front(), "frames");
      }
      TRACEDB_ASSIGN(stack, stacks_.NumberOf(frames));
      const auto bytes = values_.IntOf(At(block, "size"));
      const auto told = values_.IntOf(At(block, "address"));
      const std::optional<int64_t> address = told.has_value() ? told : next;
      block_.Add(rows_.source_id).Add(blocks_).Add(segments_).Add(address).Add(bytes);
      block_.Add(values_, At(block, "requested_size")).Add(values_, At(block, "state")).Add(stack);
      TRACEDB_TRY(block_.Write());
      ++rows_.rows;
      next = std::nullopt;
      if (address.has_value() && bytes.has_value()) {  // hostile ones may wrap
        next =
            static_cast<int64_t>(static_cast<uint64_t>(*address) + static_cast<uint64_t>(*bytes));
      }
    }
    return Done{};
  }

  SourceRows& rows_;
  const PlainValues& values_;
  DumpStacks stacks_;
  DumpRow segment_, block_, entry_, note_;
  int64_t segments_ = 0;
  int64_t blocks_ = 0;
  int64_t entries_ = 0;
};

}  // namespace

bool MemorySnapshot::Fits(const SourceHead& head) const {
  constexpr size_t kFirstKeys = 64;  // "segments" is the first that PyTorch writes
  if (IsPickledDict(head.text)) {
    const std::string_view begin = head.text.substr(0, kFirstKeys);
    return begin.find("segments") != std::string_view::npos ||
           begin.find("device_traces") != std::string_view::npos;
  }
  return IsJsonObject(head.text) && head.text.find("\"traceEvents\"") == std::string_view::npos &&
         head.text.find("\"segments\"") != std::string_view::npos &&
         (head.text.find("\"blocks\"") != std::string_view::npos ||
          head.text.find("\"device_traces\"") != std::string_view::npos);
}

Status MemorySnapshot::Read(SourceText& text, SourceRows& rows) const {
  PlainValues values(rows.options.memory_bytes);
  TRACEDB_ASSIGN(root, ReadDump(text, rows, values));
  rows.rank = RankInName(FileName(rows.path));
  TRACEDB_ASSIGN(snapshot, SnapshotRows::Open(rows, values));
  for (const ValueId segment : values.ItemsOf(values.At(root, "segments"))) {
    TRACEDB_TRY(snapshot.AddSegment(segment));
  }
  int64_t device = 0;
  for (const ValueId trace : values.ItemsOf(values.At(root, "device_traces"))) {
    for (const ValueId entry : values.ItemsOf(trace)) {
      TRACEDB_TRY(snapshot.AddEntry(device, entry));
    }
    ++device;
  }
  const std::span<const ValueId> pairs = values.PairsOf(root);
  for (size_t i = 0; i < pairs.size(); i += 2) {
    const auto name = values.TextOf(pairs[i]);
    if (!name.has_value() || *name == "segments" || *name == "device_traces") continue;
    TRACEDB_TRY(snapshot.AddNote(*name, pairs[i + 1]));
  }
  if (rows.start_ns.has_value()) rows.time_source = "Unix time";
  return Done{};
}

}  // namespace tracedb
