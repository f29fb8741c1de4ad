// The part of RecordBuilder that makes one slice of a begin and its end.

#include "ingest/build/args_text.h"
#include "ingest/build/record_builder.h"

namespace tracedb {

Status RecordBuilder::Begin(uint64_t key, const EventRecord& record,
                            const LocalEventName& event_name, const LocalArgsText& args_text,
                            EventRow& row) {
  OpenSlice slice;
  slice.ts = *row.ts;
  slice.offset = record.offset;
  slice.track = row.track;
  slice.event_name = row.event_name;
  // An open GPU row is none: "an X event", says the definition.
  slice.table =
      event_name.table == EventTable::kGpuSlice ? EventTable::kCpuSlice : event_name.table;
  slice.args_text = row.args_text;
  slice.args_place = args_text.text;
  slice.phase = record.phase;
  if (record.phase == 'B') slice.host_call = event_name.host_call;  // others are on no thread
  slice.values.Keep(values_);
  if (open_.Open(key, slice)) return Done{};
  issues_.Add(IssueKind::kTooManyOpen, record.offset, {&record.phase, 1});
  row.id = next_row_++;
  return rows_.Event(EventTable::kInstant, row, values_);
}

Status RecordBuilder::End(uint64_t key, int64_t event_name, const EventRecord& record,
                          const LocalArgsText& args_text, EventRow& row) {
  bool refused = false;
  const auto open = open_.Close(key, event_name, refused);
  if (!open.has_value()) {
    if (!refused) issues_.Add(IssueKind::kEndWithoutBegin, record.offset, {&record.phase, 1});
    row.id = next_row_++;
    return rows_.Event(EventTable::kInstant, row, values_);
  }
  EventRow slice;
  slice.id = next_row_++;
  slice.track = open->track;
  slice.event_name = open->event_name;
  slice.ts = open->ts;
  slice.dur = *row.ts - open->ts;
  slice.args_text = open->args_text;
  if (*slice.dur < 0) issues_.Add(IssueKind::kNegativeDuration, record.offset, {&record.phase, 1});
  if (*slice.dur > TimeRule::kDurationMaxNs) times_.AddTooLong(record.offset);
  ++summary_.slices;
  bool merged = true;
  ArgsValues values = open->values.Values();
  if (args_text.id != 0) TRACEDB_TRY(MergeEnd(*open, args_text, slice, values, merged));
  slice.host_call = open->host_call;
  // The args of both, merged, differ from pair to pair.
  if (slice.args_text != open->args_text) slice.begin_args = open->args_text;
  TRACEDB_TRY(rows_.Event(open->table, slice, values));
  if (merged) return Done{};
  row.id = next_row_++;  // its args found no place in the slice: it stays as an event of its own
  return rows_.Event(EventTable::kInstant, row, values_);
}

// Gives the slice the args and other keys of both its begin and its end, as whole text, and the
// columns of both; where both have an args key, the end wins. `merged` is false when one of the
// texts is no longer known.
Status RecordBuilder::MergeEnd(const OpenSlice& open, const LocalArgsText& end_args,
                               EventRow& slice, ArgsValues& values, bool& merged) {
  const TextDictionary& args_texts = dictionaries_[static_cast<size_t>(TextKind::kArgsText)];
  merged = end_args.text != kNoText && (open.args_text == 0 || open.args_place != kNoText);
  if (!merged) return Done{};
  const ArgsTextParts end(FilledArgsText(args_texts.Text(end_args.text), values_));
  const ArgsTextParts begin(
      open.args_text == 0 ? ""
                          : FilledArgsText(args_texts.Text(open.args_place), open.values.Values()));
  // What both say beside the args (an asynchronous end repeats the id) stays as the begin has it.
  const std::string others = MergedObjects("{" + end.others + "}", "{" + begin.others + "}");
  const bool nothing_new = others.substr(1, others.size() - 2) == begin.others;
  if ((end.args.empty() || end.args == "{}") && nothing_new) return Done{};
  std::string text = begin.args.empty() ? end.args
                     : end.args.empty() ? begin.args
                                        : MergedObjects(begin.args, end.args);
  if (others.size() > 2) text += kPartMark + others.substr(1, others.size() - 2);
  for (uint32_t left = values_.mask; left != 0; left &= left - 1) {
    const auto column = static_cast<size_t>(std::countr_zero(left));
    values.ints[column] = values_.ints[column];
    values.texts[column] = values_.texts[column];
  }
  values.text_mask = (values.text_mask & ~values_.mask) | values_.text_mask;
  values.mask |= values_.mask;
  const auto [id, known, is_new] = Number(TextKind::kArgsText, text);
  slice.args_text = id;
  if (!is_new) return Done{};
  if (known != kNoText) args_facts_.push_back({});
  return rows_.ArgsTextRow(id, args_reader_.Read(text));
}

}  // namespace tracedb
