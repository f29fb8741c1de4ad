#include "ingest/build/record_builder.h"

#include <algorithm>
#include <bit>
#include <charconv>

#include "derive/sync_calls.h"
#include "tracedb/json/json_text.h"
#include "tracedb/schema/waiting_calls.h"

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
      return {HostKind::kCall, WaitsForGpu(name), GraphCallOf(name)};
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

RecordBuilder::RecordBuilder(RowLots& rows, const LoadLimits& limits, const KindRules& rules,
                             FirstIds first, bool keep_args)
    : rows_(rows),
      limits_(limits),
      rules_(rules),
      trace_id_(first.trace_id),
      keep_args_(keep_args),
      local_(limits.parsers),
      open_(limits.open_bytes_max),
      next_row_(first.row),
      next_text_(first.text) {}

Status RecordBuilder::Add(const EventBatch& batch) {
  constexpr ptrdiff_t kAhead = 12;  // records are in the cache of the core that parsed them
  LocalTexts& texts = local_[batch.parser];
  if (batch.forgot) texts = {};
  TRACEDB_TRY(AddTexts(batch, texts));
  for (const EventRecord& record : batch.events) {
    __builtin_prefetch(&record + kAhead);
    TRACEDB_TRY(AddEvent(batch, record, texts));
  }
  issues_.Merge(batch.issues);
  summary_.last_row = next_row_ - 1;
  summary_.last_text = next_text_ - 1;
  return Done{};
}

Status RecordBuilder::AddTexts(const EventBatch& batch, LocalTexts& texts) {
  for (const EventBatch::NewText& text : batch.new_texts) {
    switch (text.kind) {
      case TextKind::kEventName:
        TRACEDB_TRY(AddEventName(batch.Text(text), texts));
        break;
      case TextKind::kTrack:
        TRACEDB_TRY(AddTrack(batch.Text(text), texts));
        break;
      case TextKind::kArgsText:
        TRACEDB_TRY(AddArgsText(batch.Text(text), texts));
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

Status RecordBuilder::AddEventName(std::string_view text, LocalTexts& texts) {
  const size_t part = text.find(kPartMark);
  const std::string_view raw_category = text.substr(part + 1);
  const bool has_category = raw_category != std::string_view(&kAbsentMark, 1);
  const std::string name = UnescapedJson(text.substr(0, part));
  const std::string category = has_category ? UnescapedJson(raw_category) : "";
  const CategoryClass category_class = ClassifyCategory(category);
  const auto [id, known, is_new] = Number(TextKind::kEventName, text);
  LocalEventName event_name;
  event_name.id = id;
  event_name.category_hash = HashText(text.substr(part));
  event_name.named = part > 0;
  event_name.table = category_class.table;
  if (category_class.table == EventTable::kGpuSlice) {
    event_name.kernel = !category_class.gpu_memory;
    event_name.gpu_kind = event_name.kernel ? rules_.KindOf(name) : GpuKind::kMemory;
  }
  event_name.naming = IsNamingEvent(name);
  event_name.cuda_event = EqualsIgnoringCase(category, "cuda_event");
  event_name.step = StepNumberOf(name, category);
  // A step is no call: what is summed is summed by step anyway.
  if (event_name.step < 0) event_name.host_call = HostCallOf(event_name.table, name, category);
  texts.event_names.push_back(event_name);
  if (!is_new) return Done{};
  return rows_.EventName(id, name,
                         has_category ? std::optional<std::string_view>(category) : std::nullopt,
                         event_name.gpu_kind == GpuKind::kCommunication);
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
  return rows_.Track(id, row);
}

Status RecordBuilder::AddArgsText(std::string_view text, LocalTexts& texts) {
  const auto [id, known, is_new] = Number(TextKind::kArgsText, text);
  if (!is_new) {
    texts.args_texts.push_back({id, known, args_facts_[known]});
    return Done{};
  }
  ArgsText args_text = args_reader_.Read(text);
  const bool collective = args_text.collective.has_value() && !args_text.collective->empty();
  const ArgsFacts facts{collective, args_text.repaired};
  texts.args_texts.push_back({id, known, facts});
  if (known != kNoText) args_facts_.push_back(facts);
  const bool analysed =
      args_text.grid.has_value() || collective || args_text.device_type.has_value();
  if (!keep_args_ && analysed) args_text.args.reset();
  return rows_.ArgsTextRow(id, args_text);
}

void RecordBuilder::ReadValues(const EventBatch& batch, const EventRecord& record) {
  values_.mask = record.columns_mask;
  values_.text_mask = record.text_mask;
  size_t at = record.values_at;
  for (uint32_t left = record.columns_mask; left != 0; left &= left - 1) {
    const auto column = static_cast<size_t>(std::countr_zero(left));
    const int64_t value = batch.values[at++];
    if ((record.text_mask >> column & 1) != 0) {
      values_.texts[column] = batch.ValueText(value);
    } else {
      values_.ints[column] = value;
    }
  }
}

void RecordBuilder::NoteTime(const EventRecord& record, const LocalEventName& event_name) {
  if (IsWithoutTiming(record, event_name)) {
    issues_.Add(IssueKind::kNoTiming, record.offset, "ts is 0");
    return;
  }
  const bool gpu = event_name.table == EventTable::kGpuSlice && record.phase == 'X';
  times_.Add(gpu ? TraceTimes::Of::kGpu : TraceTimes::Of::kHost, record.ts_ns, record.dur_ns,
             record.offset);
}

// What profilers write when the device gave no times: ts 0, and no length or the shortest.
bool RecordBuilder::IsWithoutTiming(const EventRecord& record, const LocalEventName& event_name) {
  if (record.phase != 'X' || record.ts_ns != 0 || !record.has_dur) return false;
  return event_name.table == EventTable::kGpuSlice ? record.dur_ns == 0
                                                   : event_name.cuda_event && record.dur_ns <= 1;
}

Status RecordBuilder::AddEvent(const EventBatch& batch, const EventRecord& record,
                               const LocalTexts& texts) {
  const LocalEventName& event_name = texts.event_names[record.event_name];
  const LocalArgsText args_text =
      record.args_text == kNoText ? LocalArgsText{} : texts.args_texts[record.args_text];
  ReadValues(batch, record);
  if (record.phase != 'M') {
    // So far off it is no time, and the difference of two such might not fit 64 bits.
    if (record.ts_ns >= TimeRule::kTimeMaxNs || record.ts_ns <= -TimeRule::kTimeMaxNs) {
      issues_.Add(IssueKind::kBadTime, record.offset, "ts");
      return Done{};
    }
    if (!has_origin_) summary_.origin_ns = record.ts_ns;
    has_origin_ = true;
  }
  ++summary_.events;
  EventRow row;
  row.track = texts.tracks[record.track];
  row.event_name = event_name.id;
  row.phase = record.phase;
  row.args_text = args_text.id;
  if (args_text.facts.repaired) {
    issues_.Add(IssueKind::kRepairedText, record.offset, "args that were no JSON");
  }
  if (record.phase == 'M') {
    // May come before any origin is known, and need not have a time: kept as it stands.
    row.ts = record.has_ts ? std::optional(record.ts_ns) : std::nullopt;
    TRACEDB_TRY(AddPoint(EventTable::kMetadataEvent, record, row));
    if (event_name.naming && row.args_text != 0) {
      namings_.Note(row.track, row.event_name, {row.id, row.args_text});
    }
    return Done{};
  }
  row.ts = record.ts_ns - summary_.origin_ns;
  NoteTime(record, event_name);
  switch (record.phase) {
    case 'X':
      return AddSlice(record, event_name, args_text, row);
    case 'B':
      return Begin(ThreadKey(row.track), record, event_name, args_text, row);
    case 'E':
      return End(ThreadKey(row.track), 0, record, args_text, row);
    case 'b':
    case 'S':
      return Begin(batch.AsyncKey(record) ^ event_name.category_hash, record, event_name, args_text,
                   row);
    case 'e':
    case 'F':
      return End(batch.AsyncKey(record) ^ event_name.category_hash,
                 event_name.named ? row.event_name : 0, record, args_text, row);
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

Status RecordBuilder::AddSlice(const EventRecord& record, const LocalEventName& event_name,
                               const LocalArgsText& args_text, EventRow& row) {
  if (record.has_dur) {
    row.dur = record.dur_ns;
    if (record.dur_ns < 0) issues_.Add(IssueKind::kNegativeDuration, record.offset, "dur");
  } else {
    issues_.Add(IssueKind::kMissingDuration, record.offset, "X event without dur");
  }
  row.id = next_row_++;
  ++summary_.slices;
  if (event_name.table == EventTable::kGpuSlice) {
    ++summary_.gpu_activities;
    row.gpu_kind = event_name.gpu_kind;
    // A kernel with the args of a collective is one, whatever its name; a copy stays a copy.
    if (args_text.facts.collective && event_name.kernel) row.gpu_kind = GpuKind::kCommunication;
  } else {
    if (event_name.step >= 0 && record.dur_ns <= TimeRule::kDurationMaxNs) {
      TRACEDB_TRY(rows_.Step(row.id, row.track, event_name.step, *row.ts, row.dur));
    }
    row.host_call = event_name.host_call;
  }
  return rows_.Event(event_name.table, row, values_);
}

Status RecordBuilder::AddPoint(EventTable table, const EventRecord& record, EventRow& row) {
  constexpr std::string_view kKnownPhases = "iInRPONDvVcTptCsfM";
  if (kKnownPhases.find(record.phase) == std::string_view::npos) {
    issues_.Add(IssueKind::kUnknownPhase, record.offset, {&record.phase, 1});
  }
  row.id = next_row_++;
  return rows_.Event(table, row, values_);
}

Status RecordBuilder::Finish() {
  while (const auto open = open_.TakeAny()) {
    issues_.Add(IssueKind::kBeginWithoutEnd, open->offset, {&open->phase, 1});
    EventRow row;
    row.id = next_row_++;
    row.track = open->track;
    row.event_name = open->event_name;
    row.ts = open->ts;
    row.phase = open->phase;
    row.args_text = open->args_text;
    TRACEDB_TRY(rows_.Event(EventTable::kInstant, row, open->values.Values()));
  }
  summary_.last_row = next_row_ - 1;
  summary_.last_text = next_text_ - 1;
  const TraceTimes::Verdict verdict = times_.Decide(issues_);
  summary_.first_start_ns = verdict.first_start_ns;
  summary_.last_end_ns = verdict.last_end_ns;
  summary_.times = verdict.rule.Since(summary_.origin_ns);
  return Done{};
}

}  // namespace tracedb
