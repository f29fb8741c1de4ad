#include "cut/cut_writer.h"

#include <algorithm>
#include <utility>

#include "cut/cut_flows.h"
#include "cut/cut_header.h"
#include "cut/cut_rows.h"

namespace tracedb {
namespace {

// Hostile times may be at the end of what fits; they then come out wrong, as in the views.
int64_t Plus(int64_t a, int64_t b) {
  return static_cast<int64_t>(static_cast<uint64_t>(a) + static_cast<uint64_t>(b));
}
int64_t Minus(int64_t a, int64_t b) {
  return static_cast<int64_t>(static_cast<uint64_t>(a) - static_cast<uint64_t>(b));
}

}  // namespace

Result<CutWriter> CutWriter::Open(SqliteDb& db, const CutSources& sources,
                                  const CutOptions& options, const std::atomic<bool>& stop) {
  TRACEDB_ASSIGN(texts, CutTexts::Open(db));
  TRACEDB_ASSIGN(event_text, CutEventText::Open(db));
  CutWriter writer(db, sources, CutFilter(options.streams, options.categories), std::move(texts),
                   std::move(event_text), stop);
  writer.clip_ = options.clip;
  writer.incoming_ = options.incoming;
  writer.events_max_ = options.events_max;
  if (sources.HasManyTraces()) {
    TRACEDB_ASSIGN(processes, CutProcesses::Read(db, sources));
    writer.processes_ = std::move(processes);
  }
  if (options.critical_path) {
    const int64_t pid = writer.processes_.has_value() ? writer.processes_->LargestPid() : 0;
    TRACEDB_ASSIGN(path, CutPath::Read(db, options.path_sql, sources, options.clip, pid));
    // Of the events that are allowed it takes half at most.
    if (options.events_max.has_value()) {
      writer.path_left_out_ = path.KeepLongest((*options.events_max + 1) / 2);
      *writer.events_max_ -= path.size();
    }
    writer.path_ = std::move(path);
  }
  return writer;
}

Status CutWriter::Write(OutputStream& output, CutReport& report) {
  if (events_max_.has_value()) {
    budget_.emplace();
    for (const CutSource& trace : sources_.traces()) {
      TRACEDB_TRY(ForEachRow(trace, [this](const CutRow& row, CutEventText::Form form) -> Status {
        budget_->Count(row, CutEventText::EventsOf(form));
        return Done{};
      }));
    }
    budget_->Decide(*events_max_);
  }
  TRACEDB_TRY(WriteHeader(db_, sources_, output));
  if (processes_.has_value()) {
    for (const std::string& event : processes_->metadata()) {
      TRACEDB_TRY(WriteEvent(event, output));
    }
  }
  TRACEDB_TRY(WritePath(output, report));
  int64_t index = 0;
  for (const CutSource& trace : sources_.traces()) {
    TRACEDB_TRY(WriteTrace(trace, index++, output, report));
  }
  std::string left_out = path_left_out_;
  if (budget_.has_value() && !budget_->LeftOut().empty()) {
    left_out += (left_out.empty() ? "" : ", ") + budget_->LeftOut();
  }
  if (!left_out.empty()) report.notes.push_back("left out: " + left_out);
  return output.Write("\n]}\n");
}

Status CutWriter::WritePath(OutputStream& output, CutReport& report) {
  if (!path_.has_value()) return Done{};
  if (path_->size() == 0) {
    report.notes.push_back("the critical path has no stretch in that time");
    return Done{};
  }
  for (const std::string& event : path_->Events(sources_)) {
    TRACEDB_TRY(WriteEvent(event, output));
  }
  report.events += path_->size();
  report.slices += path_->size();
  return Done{};
}

Status CutWriter::ForEachRow(const CutSource& trace, const RowFunction& function) {
  const auto keeps = [this](const CutRow& row) { return filter_.Keeps(row, texts_); };
  TRACEDB_TRY(filter_.SetTrace(db_, trace));
  // All of it keeps what the trace has, arrows with one end too.
  const bool all = !trace.window.has_value() && filter_.IsEmpty();
  if (!all) TRACEDB_TRY(ListWholeFlows(db_, trace, keeps));
  const bool has_incoming = incoming_ && trace.window.has_value();
  if (has_incoming) TRACEDB_TRY(ListIncomingFlows(db_, trace, keeps));
  TRACEDB_ASSIGN(rows, CutRows::Open(db_, trace, all ? nullptr : kFlowList,
                                     has_incoming ? kSliceList : nullptr));
  for (;;) {
    TRACEDB_ASSIGN(row, rows.Next());
    if (row == nullptr) return Done{};
    if (stop_) return Error{ErrorKind::kOutput, "interrupted", ""};
    TRACEDB_ASSIGN(kept, keeps(*row));
    if (!kept) continue;
    TRACEDB_ASSIGN(event_name, texts_.EventName(row->event_name));
    TRACEDB_ASSIGN(track, texts_.Track(row->track));
    TRACEDB_ASSIGN(form, event_text_.FormOf(*row, *event_name, *track));
    TRACEDB_TRY(function(*row, form));
  }
}

Status CutWriter::WriteTrace(const CutSource& trace, int64_t index, OutputStream& output,
                             CutReport& report) {
  const IdSpace ids{static_cast<int64_t>(sources_.traces().size()), index};
  return ForEachRow(trace, [&](const CutRow& row, CutEventText::Form form) -> Status {
    if (budget_.has_value() && !budget_->Takes(row, CutEventText::EventsOf(form))) return Done{};
    return WriteRow(trace, row, form, ids, output, report);
  });
}

Status CutWriter::WriteRow(const CutSource& trace, const CutRow& row, CutEventText::Form form,
                           const IdSpace& ids, OutputStream& output, CutReport& report) {
  TRACEDB_ASSIGN(event_name, texts_.EventName(row.event_name));
  TRACEDB_ASSIGN(track, texts_.Track(row.track));
  const CutArgsText* args_text = nullptr;
  if (row.args_text != 0) {
    TRACEDB_ASSIGN(found, texts_.ArgsTextOf(row.args_text));
    args_text = found;
  }
  EventPlace place{track->pid_json, track->tid_json};
  if (processes_.has_value()) {
    if (row.table == EventTable::kMetadataEvent && CutProcesses::Replaces(event_name->name_json))
      return Done{};
    place.pid_json = processes_->PidJson(trace.trace_id, track->pid);
    const std::string tid = processes_->TidJson(trace.trace_id, track->pid, track->tid);
    if (!tid.empty()) place.tid_json = tid;
  }
  event_.clear();
  TRACEDB_TRY(CutEventText::Append(event_, form, row, *event_name, args_text, place,
                                   TimesOf(trace, row), ids));
  if (row.table != EventTable::kMetadataEvent) {
    report.events += CutEventText::EventsOf(form);
    report.slices += IsSliceTable(row.table) ? 1 : 0;
  }
  return WriteEvent(event_, output);
}

Status CutWriter::WriteEvent(std::string_view event, OutputStream& output) {
  if (std::exchange(any_, true)) TRACEDB_TRY(output.Write(",\n"));
  return output.Write(event);
}

EventTimes CutWriter::TimesOf(const CutSource& trace, const CutRow& row) const {
  EventTimes times;
  if (!row.ts.has_value()) return times;
  if (row.table == EventTable::kMetadataEvent) {
    times.ts_ns = Minus(Plus(*row.ts, trace.file_base_ns), sources_.OutputBase());
    return times;
  }
  int64_t start = Plus(*row.ts, trace.base_ns);
  std::optional<int64_t> end;
  if (row.dur.has_value()) end = Plus(start, *row.dur);
  const bool may_clip = clip_ && trace.window.has_value() && row.dur.value_or(0) > 0;
  if (may_clip) {
    start = std::max(start, trace.window->start_ns);
    end = std::min(*end, trace.window->end_ns);
  }
  start = sources_.OutputTime(trace, start);
  times.ts_ns = Minus(start, sources_.OutputBase());
  if (end.has_value()) times.dur_ns = Minus(sources_.OutputTime(trace, *end), start);
  return times;
}

}  // namespace tracedb
