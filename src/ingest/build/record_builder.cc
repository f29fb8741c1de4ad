#include "ingest/build/record_builder.h"

#include <algorithm>
#include <bit>
#include <charconv>

#include "derive/sync_calls.h"
#include "tracedb/json/json_text.h"

namespace tracedb {
namespace {

constexpr std::string_view kStepPrefix = "ProfilerStep#";

// The N of "ProfilerStep#N" on the CPU's side; -1 when it is none.
int64_t StepNumberOf(std::string_view name, std::string_view category) {
  if (!name.starts_with(kStepPrefix) || category.starts_with("gpu_")) return -1;
  name.remove_prefix(kStepPrefix.size());
  int64_t step = -1;
  const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), step);
  return error == std::errc() && end == name.data() + name.size() ? step : -1;
}

// No kind for what is no call on a thread: the profiler's own spans, waits of streams, annotations
// as they were seen on a GPU.
HostCall HostCallOf(EventTable table, std::string_view name, std::string_view category) {
  switch (table) {
    case EventTable::kRuntimeSlice:
      return {HostKind::kCall, WaitsForGpu(name)};
    case EventTable::kPythonSlice:
      return {name.starts_with("nn.Module: ") ? HostKind::kModule : HostKind::kFunction};
    case EventTable::kCpuSlice:
      if (EqualsIgnoringCase(category, "user_annotation")) return {HostKind::kAnnotation};
      if (EndsIgnoringCase(category, "op") || EndsIgnoringCase(category, "operator")) {
        return {HostKind::kOperator};
      }
      return {};
    default:
      return {};
  }
}

// Thread stacks and async ids share one map; their keys must not meet.
uint64_t ThreadKey(int64_t track) { return HashText({reinterpret_cast<char*>(&track), 8}); }

}  // namespace

RecordBuilder::RecordBuilder(TableWriter& writer, const LoadLimits& limits, const KindRules& rules,
                             FirstIds first, bool keep_args,
                             const std::filesystem::path& spill_folder)
    : writer_(writer),
      limits_(limits),
      rules_(rules),
      trace_id_(first.trace_id),
      keep_args_(keep_args),
      local_(limits.parsers),
      open_(limits.open_bytes_max),
      next_row_(first.row),
      next_text_(first.text),
      host_slices_(spill_folder, limits.gathered_bytes_max / 2),
      gpu_activities_(spill_folder, limits.gathered_bytes_max),
      long_slices_(spill_folder, limits.gathered_long_bytes_max) {}

Status RecordBuilder::Add(const EventBatch& batch) {
  LocalTexts& texts = local_[batch.parser];
  if (batch.forgot) texts = {};
  TRACEDB_TRY(AddTexts(batch, texts));
  for (const EventRecord& record : batch.events) TRACEDB_TRY(AddEvent(batch, record, texts));
  issues_.Merge(batch.issues);
  summary_.last_row = next_row_ - 1;
  summary_.last_text = next_text_ - 1;
  return Done{};
}

Status RecordBuilder::AddTexts(const EventBatch& batch, LocalTexts& texts) {
  for (const EventBatch::NewText& text : batch.new_texts) {
    switch (text.kind) {
      case TextKind::kLabel:
        TRACEDB_TRY(AddLabel(batch.Text(text), texts));
        break;
      case TextKind::kTrack:
        TRACEDB_TRY(AddTrack(batch.Text(text), texts));
        break;
      case TextKind::kShape:
        TRACEDB_TRY(AddShape(batch.Text(text), texts));
        break;
      case TextKind::kCount:
        break;
    }
  }
  return Done{};
}

// Once the dictionary is full, a text that is not in it is written again each time a parser
// brings it: the database grows, the memory does not.
RecordBuilder::Numbered RecordBuilder::Number(TextKind kind, std::string_view text) {
  const auto k = static_cast<size_t>(kind);
  size_t bytes = 0;
  for (const TextDictionary& dictionary : dictionaries_) bytes += dictionary.bytes();
  if (bytes + text.size() > limits_.dictionary_bytes_max) {
    const auto found = dictionaries_[k].Find(text);
    if (found.has_value()) return {ids_[k][*found], *found, false};
    return {next_text_++, kNoText, true};
  }
  const auto [id, is_new] = dictionaries_[k].Intern(text);
  if (is_new) ids_[k].push_back(next_text_++);
  return {ids_[k][id], id, is_new};
}

Status RecordBuilder::AddLabel(std::string_view text, LocalTexts& texts) {
  const size_t part = text.find(kPartMark);
  const std::string_view raw_category = text.substr(part + 1);
  const bool has_category = raw_category != std::string_view(&kAbsentMark, 1);
  const std::string name = UnescapedJson(text.substr(0, part));
  const std::string category = has_category ? UnescapedJson(raw_category) : "";
  const CategoryClass category_class = ClassifyCategory(category);
  const bool communication = category_class.table == EventTable::kGpuSlice &&
                             !category_class.gpu_memory && rules_.IsCommunication(name);
  const auto [id, known, is_new] = Number(TextKind::kLabel, text);
  LocalLabel label;
  label.id = id;
  label.category_hash = HashText(text.substr(part));
  label.named = part > 0;
  label.table = category_class.table;
  label.gpu_kind = category_class.gpu_memory ? GpuKind::kMemory
                   : communication           ? GpuKind::kCommunication
                                             : GpuKind::kCompute;
  label.cuda_event = EqualsIgnoringCase(category, "cuda_event");
  label.step = StepNumberOf(name, category);
  // A step is no call: what is summed is summed by step anyway.
  if (label.step < 0) label.host_call = HostCallOf(label.table, name, category);
  texts.labels.push_back(label);
  if (!is_new) return Done{};
  return writer_.Label(id, name,
                       has_category ? std::optional<std::string_view>(category) : std::nullopt,
                       communication);
}

Status RecordBuilder::AddTrack(std::string_view text, LocalTexts& texts) {
  const auto [id, known, is_new] = Number(TextKind::kTrack, text);
  texts.tracks.push_back(id);
  if (!is_new) return Done{};
  std::vector<std::string> parts;
  for (size_t at = 0; at <= text.size();) {
    const size_t end = std::min(text.find(kPartMark, at), text.size());
    parts.push_back(UnescapedJson(text.substr(at, end - at)));
    at = end + 1;
  }
  TrackRow row;
  row.pid = parts[0];
  row.tid = parts[1];
  if (parts.size() == 4) {
    row.device = parts[2];
    row.stream = parts[3];
  }
  return writer_.Track(id, trace_id_, row);
}

Status RecordBuilder::AddShape(std::string_view text, LocalTexts& texts) {
  const auto [id, known, is_new] = Number(TextKind::kShape, text);
  if (!is_new) {
    texts.shapes.push_back({id, known, shape_facts_[known]});
    return Done{};
  }
  ShapeText shape = ReadShape(text);
  const bool collective = shape.collective.has_value() && !shape.collective->empty();
  const ShapeFacts facts{collective, shape.repaired};
  texts.shapes.push_back({id, known, facts});
  if (known != kNoText) shape_facts_.push_back(facts);
  const bool analysed = shape.grid.has_value() || collective || shape.device_type.has_value();
  if (!keep_args_ && analysed) shape.args.reset();
  return writer_.Shape(id, shape);
}

void RecordBuilder::ReadSlots(const EventBatch& batch, const EventRecord& record) {
  slots_.mask = record.slot_mask;
  slots_.text_mask = record.text_mask;
  size_t at = record.slots_at;
  for (uint32_t left = record.slot_mask; left != 0; left &= left - 1) {
    const auto slot = static_cast<size_t>(std::countr_zero(left));
    const int64_t value = batch.slots[at++];
    if ((record.text_mask >> slot & 1) != 0) {
      slots_.texts[slot] = batch.SlotText(value);
    } else {
      slots_.ints[slot] = value;
    }
  }
}

void RecordBuilder::SeeTime(int64_t ts_ns, int64_t end_ns) {
  if (!summary_.first_start_ns.has_value() || ts_ns < *summary_.first_start_ns) {
    summary_.first_start_ns = ts_ns;
  }
  if (!summary_.last_end_ns.has_value() || end_ns > *summary_.last_end_ns) {
    summary_.last_end_ns = end_ns;
  }
}

// What profilers write when the device gave no times: ts 0, and no length or the shortest.
bool RecordBuilder::IsWithoutTiming(const EventRecord& record, const LocalLabel& label) {
  if (record.phase != 'X' || record.ts_ns != 0 || !record.has_dur) return false;
  return label.table == EventTable::kGpuSlice ? record.dur_ns == 0
                                              : label.cuda_event && record.dur_ns <= 1;
}

Status RecordBuilder::AddEvent(const EventBatch& batch, const EventRecord& record,
                               const LocalTexts& texts) {
  const LocalLabel& label = texts.labels[record.label];
  const LocalShape shape = record.shape == kNoText ? LocalShape{} : texts.shapes[record.shape];
  ReadSlots(batch, record);
  if (!has_origin_ && record.phase != 'M') {
    has_origin_ = true;
    summary_.origin_ns = record.ts_ns;
  }
  ++summary_.events;
  EventRow row;
  row.track = texts.tracks[record.track];
  row.label = label.id;
  row.phase = record.phase;
  row.shape = shape.id;
  if (shape.facts.repaired) {
    issues_.Add(IssueKind::kRepairedText, record.offset, "args that were no JSON");
  }
  if (record.phase == 'M') {
    // May come before any origin is known, and need not have a time: kept as it stands.
    row.ts = record.has_ts ? std::optional(record.ts_ns) : std::nullopt;
    return AddPoint(EventTable::kMetadataEvent, record, row);
  }
  // A ts so far from the first one that the difference does not fit is no time of this trace.
  int64_t ts;
  if (__builtin_sub_overflow(record.ts_ns, summary_.origin_ns, &ts)) {
    --summary_.events;
    issues_.Add(IssueKind::kBadTime, record.offset, "ts");
    return Done{};
  }
  row.ts = ts;
  if (IsWithoutTiming(record, label)) {
    issues_.Add(IssueKind::kNoTiming, record.offset, "ts is 0");
  } else {
    SeeTime(record.ts_ns, record.ts_ns + std::max<int64_t>(record.dur_ns, 0));
  }
  switch (record.phase) {
    case 'X':
      return AddSlice(record, label, shape, row);
    case 'B':
      return Begin(ThreadKey(row.track), record, label, shape, row);
    case 'E':
      return End(ThreadKey(row.track), 0, record, shape, row);
    case 'b':
    case 'S':
      return Begin(record.async_key ^ label.category_hash, record, label, shape, row);
    case 'e':
    case 'F':
      return End(record.async_key ^ label.category_hash, label.named ? row.label : 0, record, shape,
                 row);
    case 's':
    case 't':
    case 'f':
      return AddPoint(EventTable::kFlow, record, row);
    case 'C':
      return AddPoint(EventTable::kCounterEvent, record, row);
    default:
      return AddPoint(EventTable::kInstant, record, row);
  }
}

Status RecordBuilder::AddSlice(const EventRecord& record, const LocalLabel& label,
                               const LocalShape& shape, EventRow& row) {
  if (record.has_dur) {
    row.dur = record.dur_ns;
    if (record.dur_ns < 0) issues_.Add(IssueKind::kNegativeDuration, record.offset, "dur");
  } else {
    issues_.Add(IssueKind::kMissingDuration, record.offset, "X event without dur");
  }
  row.id = next_row_++;
  ++summary_.slices;
  if (label.table == EventTable::kGpuSlice) {
    ++summary_.gpu_activities;
    row.gpu_kind = label.gpu_kind;
    if (shape.facts.collective && row.gpu_kind == GpuKind::kCompute) {
      row.gpu_kind = GpuKind::kCommunication;
    }
    TRACEDB_TRY(SeeActivity(row));
  } else {
    if (label.step >= 0) {
      TRACEDB_TRY(writer_.Step(row.id, row.track, label.step, *row.ts, row.dur));
    }
    TRACEDB_TRY(SeeHostSlice(label.table, label.host_call, row, slots_));
  }
  return writer_.Event(label.table, row, slots_);
}

namespace {

std::optional<int64_t> NumberIn(const SlotValues& slots, Slot slot) {
  const auto at = static_cast<size_t>(slot);
  const uint32_t bit = uint32_t{1} << at;
  if ((slots.mask & bit) == 0 || (slots.text_mask & bit) != 0) return std::nullopt;
  return slots.ints[at];
}

}  // namespace

Status RecordBuilder::SeeActivity(const EventRow& row) {
  const auto correlation = NumberIn(slots_, Slot::kCorrelation);
  const auto external_id = NumberIn(slots_, Slot::kExternalId);
  GpuActivity activity;
  activity.id = row.id;
  activity.ts = *row.ts;
  activity.dur = row.dur.value_or(0);
  activity.track = row.track;
  activity.correlation = correlation.value_or(0);
  activity.label = row.label;
  activity.external_id = external_id.value_or(0);
  if (row.gpu_kind == GpuKind::kCommunication) activity.shape = row.shape;
  activity.kind = static_cast<int>(row.gpu_kind);
  activity.has_dur = row.dur.has_value();
  activity.has_correlation = correlation.has_value();
  activity.has_external_id = external_id.has_value();
  return gpu_activities_.Add(activity);
}

Status RecordBuilder::SeeHostSlice(EventTable table, const HostCall& call, const EventRow& row,
                                   const SlotValues& slots) {
  if (row.dur >= kLongSliceNs) {
    GpuActivity slice;
    slice.id = row.id;
    slice.ts = *row.ts;
    slice.track = row.track;
    slice.kind = static_cast<int>(table);
    TRACEDB_TRY(long_slices_.Add(slice));
  }
  if (!call.kind.has_value()) return Done{};
  HostSlice slice;
  slice.ts = *row.ts;
  slice.dur = std::max<int64_t>(row.dur.value_or(0), 0);
  slice.id = row.id;
  slice.track = row.track;
  slice.label = row.label;
  slice.kind = *call.kind;
  if (slice.kind == HostKind::kOperator) {
    slice.shape = row.shape;
    slice.sequence = NumberIn(slots, Slot::kSequenceNumber);
    slice.forward_thread = NumberIn(slots, Slot::kFwdThreadId).value_or(0);
    slice.external_id = NumberIn(slots, Slot::kExternalId);
  } else if (slice.kind == HostKind::kCall) {
    slice.waits = call.waits;
    slice.correlation = NumberIn(slots, Slot::kCorrelation);
    slice.external_id = NumberIn(slots, Slot::kExternalId);
  }
  return host_slices_.Add(slice);
}

Status RecordBuilder::AddPoint(EventTable table, const EventRecord& record, EventRow& row) {
  constexpr std::string_view kKnownPhases = "iInRPONDvVcTptCsfM";
  if (kKnownPhases.find(record.phase) == std::string_view::npos) {
    issues_.Add(IssueKind::kUnknownPhase, record.offset, {&record.phase, 1});
  }
  row.id = next_row_++;
  return writer_.Event(table, row, slots_);
}

Status RecordBuilder::Finish() {
  while (const auto open = open_.TakeAny()) {
    issues_.Add(IssueKind::kBeginWithoutEnd, open->offset, {&open->phase, 1});
    EventRow row;
    row.id = next_row_++;
    row.track = open->track;
    row.label = open->label;
    row.ts = open->ts;
    row.phase = open->phase;
    row.shape = open->shape;
    TRACEDB_TRY(writer_.Event(EventTable::kInstant, row, open->slots.Values()));
  }
  summary_.last_row = next_row_ - 1;
  summary_.last_text = next_text_ - 1;
  return host_slices_.Finish();
}

}  // namespace tracedb
