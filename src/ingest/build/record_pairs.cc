// The part of RecordBuilder that makes one slice of a begin and its end.

#include "ingest/build/record_builder.h"
#include "ingest/build/shape_text.h"

namespace tracedb {

Status RecordBuilder::Begin(uint64_t key, const EventRecord& record, const LocalLabel& label,
                            const LocalShape& shape, EventRow& row) {
  OpenSlice slice;
  slice.ts = *row.ts;
  slice.offset = record.offset;
  slice.track = row.track;
  slice.label = row.label;
  // An open GPU row is none: "an X event", says the definition.
  slice.table = label.table == EventTable::kGpuSlice ? EventTable::kCpuSlice : label.table;
  slice.shape = row.shape;
  slice.shape_text = shape.text;
  slice.phase = record.phase;
  if (record.phase == 'B') slice.host_call = label.host_call;  // others are on no thread
  slice.slots.Keep(slots_);
  if (open_.Open(key, slice)) return Done{};
  issues_.Add(IssueKind::kTooManyOpen, record.offset, {&record.phase, 1});
  row.id = next_row_++;
  return writer_.Event(EventTable::kInstant, row, slots_);
}

Status RecordBuilder::End(uint64_t key, int64_t label, const EventRecord& record,
                          const LocalShape& shape, EventRow& row) {
  bool refused = false;
  const auto open = open_.Close(key, label, refused);
  if (!open.has_value()) {
    if (!refused) issues_.Add(IssueKind::kEndWithoutBegin, record.offset, {&record.phase, 1});
    row.id = next_row_++;
    return writer_.Event(EventTable::kInstant, row, slots_);
  }
  EventRow slice;
  slice.id = next_row_++;
  slice.track = open->track;
  slice.label = open->label;
  slice.ts = open->ts;
  slice.dur = *row.ts - open->ts;
  slice.shape = open->shape;
  if (*slice.dur < 0) issues_.Add(IssueKind::kNegativeDuration, record.offset, {&record.phase, 1});
  ++summary_.slices;
  bool merged = true;
  SlotValues slots = open->slots.Values();
  if (shape.id != 0) TRACEDB_TRY(MergeEnd(*open, shape, slice, slots, merged));
  if (open->table != EventTable::kGpuSlice) {
    EventRow as_begun = slice;  // the args of both, merged, differ from pair to pair
    as_begun.shape = open->shape;
    TRACEDB_TRY(SeeHostSlice(open->table, open->host_call, as_begun, slots));
  }
  TRACEDB_TRY(writer_.Event(open->table, slice, slots));
  if (merged) return Done{};
  row.id = next_row_++;  // its args found no place in the slice: it stays as an event of its own
  return writer_.Event(EventTable::kInstant, row, slots_);
}

// Gives the slice the args and other keys of both its begin and its end, as whole text, and the
// columns of both; where both have an args key, the end wins. `merged` is false when one of the
// texts is no longer known.
Status RecordBuilder::MergeEnd(const OpenSlice& open, const LocalShape& end_shape, EventRow& slice,
                               SlotValues& slots, bool& merged) {
  const TextDictionary& shapes = dictionaries_[static_cast<size_t>(TextKind::kShape)];
  merged = end_shape.text != kNoText && (open.shape == 0 || open.shape_text != kNoText);
  if (!merged) return Done{};
  const ShapeParts end(FilledShape(shapes.Text(end_shape.text), slots_));
  const ShapeParts begin(
      open.shape == 0 ? "" : FilledShape(shapes.Text(open.shape_text), open.slots.Values()));
  // What both say beside the args (an asynchronous end repeats the id) stays as the begin has it.
  const std::string others = MergedObjects("{" + end.others + "}", "{" + begin.others + "}");
  const bool nothing_new = others.substr(1, others.size() - 2) == begin.others;
  if ((end.args.empty() || end.args == "{}") && nothing_new) return Done{};
  std::string text = begin.args.empty() ? end.args
                     : end.args.empty() ? begin.args
                                        : MergedObjects(begin.args, end.args);
  if (others.size() > 2) text += kPartMark + others.substr(1, others.size() - 2);
  for (uint32_t left = slots_.mask; left != 0; left &= left - 1) {
    const auto slot = static_cast<size_t>(std::countr_zero(left));
    slots.ints[slot] = slots_.ints[slot];
    slots.texts[slot] = slots_.texts[slot];
  }
  slots.text_mask = (slots.text_mask & ~slots_.mask) | slots_.text_mask;
  slots.mask |= slots_.mask;
  const auto [id, known, is_new] = Number(TextKind::kShape, text);
  slice.shape = id;
  if (!is_new) return Done{};
  if (known != kNoText) shape_facts_.push_back({});
  return writer_.Shape(id, ReadShape(text));
}

}  // namespace tracedb
