#include "ingest/parse/event_recorder.h"

#include <bit>
#include <charconv>

#include "ingest/parse/decimal_time.h"
#include "ingest/parse/rocprof_fields.h"
#include "tracedb/json/json_text.h"
#include "tracedb/schema/event_tables.h"

namespace tracedb {
namespace {

uint64_t AsyncKey(std::string_view id, std::string_view scope) {
  return HashText(Unquoted(id)) * 31 + HashText(Unquoted(scope));
}

}  // namespace

bool EventRecorder::Begin(EventBatch& batch) {
  batch_ = &batch;
  size_t bytes = 0;
  for (const TextDictionary& dictionary : dictionaries_) bytes += dictionary.bytes();
  if (bytes <= limits_.dictionary_bytes_max) return false;
  for (TextDictionary& dictionary : dictionaries_) dictionary.Clear();
  name_track_.clear();
  last_track_key_.clear();
  batch.forgot = true;
  return true;
}

void EventRecorder::Record(EventFields& fields, uint64_t offset, std::string_view event) {
  std::string_view phase = Unquoted(fields.phase);
  std::string unescaped;
  if (phase.find('\\') != std::string_view::npos) {
    unescaped = UnescapedJson(phase);
    phase = unescaped;
  }
  if (phase.empty()) {
    batch_->issues.Add(IssueKind::kNotAnEvent, offset, event);
    return;
  }
  EventRecord record{};
  record.offset = offset;
  record.phase = phase.size() == 1 ? phase[0] : '?';
  if (!RecordTimes(fields, record, offset, event)) return;
  if (record.phase == '?') {
    if (!fields.others.empty()) fields.others += ',';
    fields.others += "\"ph\":";
    fields.others += fields.phase;
  }
  if (fields.category.empty() && !fields.args.empty()) FillRocprofFields(fields);
  RecordTexts(fields, record);
  RecordValues(fields, record);
  if (IsAsync(record.phase)) {
    batch_->values.push_back(static_cast<int64_t>(AsyncKey(fields.id, fields.scope)));
  }
  batch_->events.push_back(record);
}

bool EventRecorder::RecordTimes(const EventFields& fields, EventRecord& record, uint64_t offset,
                                std::string_view event) {
  if (const std::string_view ts = Unquoted(fields.ts); !ts.empty() && fields.ts != "null") {
    const auto value = DecimalMicrosToNs(ts);
    if (!value.has_value()) {
      batch_->issues.Add(IssueKind::kBadTime, offset, event);
      return false;
    }
    record.ts_ns = *value;
    record.has_ts = true;
  } else if (record.phase != 'M') {
    batch_->issues.Add(IssueKind::kMissingTime, offset, event);
    return false;
  }
  if (const std::string_view dur = Unquoted(fields.dur); !dur.empty() && fields.dur != "null") {
    const auto value = DecimalMicrosToNs(dur);
    if (!value.has_value()) {
      batch_->issues.Add(IssueKind::kBadTime, offset, event);
      return false;
    }
    record.dur_ns = *value;
    record.has_dur = true;
    int64_t end;
    if (__builtin_add_overflow(record.ts_ns, record.dur_ns, &end)) {
      batch_->issues.Add(IssueKind::kBadTime, offset, event);
      return false;
    }
  }
  return true;
}

uint32_t EventRecorder::Intern(TextKind kind, std::string_view text) {
  const auto [id, is_new] = dictionaries_[static_cast<size_t>(kind)].Intern(text);
  if (is_new) {
    batch_->new_texts.push_back(
        {kind, id, static_cast<uint32_t>(text.size()), batch_->texts.size()});
    batch_->texts += text;
  }
  return id;
}

void EventRecorder::RecordTexts(EventFields& fields, EventRecord& record) {
  key_.assign(Unquoted(fields.name));
  key_ += kPartMark;
  const std::string_view category = Unquoted(fields.category);
  if (fields.category.empty()) {
    key_ += kAbsentMark;
  } else {
    key_ += category;
  }
  record.event_name = Intern(TextKind::kEventName, key_);
  if (record.event_name == name_track_.size()) name_track_.push_back(TrackKindOf(category));
  const TrackKind kind = record.phase == 'X' ? name_track_[record.event_name] : TrackKind::kThread;
  const bool gpu = kind == TrackKind::kGpuStream;
  AddTrackKey(fields, kind);
  // Events come in runs of one thread.
  if (key_ != last_track_key_) {
    last_track_ = Intern(TextKind::kTrack, key_);
    last_track_key_ = key_;
  }
  record.track = last_track_;
  const bool keep_args = keep_args_ || gpu || record.phase == 'M' || record.phase == 'C' ||
                         fields.name == "\"[memory]\"";
  record.args_text = kNoText;
  if (!keep_args) {
    // Named values stay: they are columns in their own right.
    fields.columns_mask &= (uint32_t{1} << static_cast<int>(ArgsColumn::kValue1)) - 1;
  } else if (!fields.others.empty()) {
    key_.assign(fields.args);
    key_ += kPartMark;
    key_ += fields.others;
    record.args_text = Intern(TextKind::kArgsText, key_);
  } else if (!fields.args.empty()) {
    record.args_text = Intern(TextKind::kArgsText, fields.args);
  }
}

EventRecorder::TrackKind EventRecorder::TrackKindOf(std::string_view category) {
  const bool escaped = category.find('\\') != std::string_view::npos;
  const std::string plain = escaped ? UnescapedJson(category) : std::string(category);
  if (EqualsIgnoringCase(plain, "cuda_sync")) return TrackKind::kSync;
  return ClassifyCategory(plain).table == EventTable::kGpuSlice ? TrackKind::kGpuStream
                                                                : TrackKind::kThread;
}

void EventRecorder::AddTrackKey(const EventFields& fields, TrackKind kind) {
  const std::string_view pid = Unquoted(fields.pid);
  const std::string_view tid = Unquoted(fields.tid);
  key_.assign(pid);
  key_ += kPartMark;
  key_ += tid;
  if (kind == TrackKind::kThread) return;
  // Kineto writes waits for stream N, which overlap its kernels, as thread N + 1,000,000.
  constexpr int64_t kSyncThreads = 1'000'000;
  int64_t of_stream = 0;
  if (kind == TrackKind::kSync) {
    const auto [end, error] = std::from_chars(tid.data(), tid.data() + tid.size(), of_stream);
    if (error != std::errc() || end != tid.data() + tid.size()) return;
    if ((of_stream -= kSyncThreads) < 0) return;
  }
  key_ += kPartMark;
  key_ += fields.device.empty() ? pid : Unquoted(fields.device);
  key_ += kPartMark;
  if (!fields.stream.empty()) {
    key_ += Unquoted(fields.stream);
  } else if (kind == TrackKind::kSync) {
    key_ += std::to_string(of_stream);
  } else {
    key_ += tid;
  }
}

void EventRecorder::RecordValues(const EventFields& fields, EventRecord& record) {
  record.columns_mask = fields.columns_mask & EventRecord::kColumnsMask;
  record.text_mask = fields.text_mask & fields.columns_mask & EventRecord::kColumnsMask;
  record.values_at = static_cast<uint32_t>(batch_->values.size());
  for (uint32_t left = fields.columns_mask; left != 0; left &= left - 1) {
    const auto column = static_cast<size_t>(std::countr_zero(left));
    if ((fields.text_mask >> column & 1) == 0) {
      batch_->values.push_back(fields.ints[column]);
      continue;
    }
    const std::string_view text = fields.texts[column];
    batch_->values.push_back(
        static_cast<int64_t>(uint64_t{batch_->texts.size()} << 32 | text.size()));
    batch_->texts += text;
  }
}

}  // namespace tracedb
