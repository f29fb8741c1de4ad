#include "cut/cut_filter.h"

#include <algorithm>

namespace tracedb {

Status CutFilter::SetTrace(SqliteDb& db, const CutSource& trace) {
  stream_threads_.clear();
  if (streams_.empty()) return Done{};
  TRACEDB_ASSIGN(rows, db.Prepare("SELECT pid, tid, stream FROM _track WHERE trace_id = ?1 "
                                  "AND stream IS NOT NULL"));
  TRACEDB_TRY(rows.Bind(1, trace.trace_id));
  for (;;) {
    TRACEDB_ASSIGN(any, rows.Step());
    if (!any) return Done{};
    stream_threads_[{std::string(rows.Text(0)), std::string(rows.Text(1))}] = rows.Text(2);
  }
}

Result<bool> CutFilter::Keeps(const CutRow& row, CutTexts& texts) const {
  if (IsEmpty() || row.table == EventTable::kMetadataEvent) return true;
  if (!categories_.empty()) {
    TRACEDB_ASSIGN(event_name, texts.EventName(row.event_name));
    if (!event_name->category.has_value()) return false;
    const bool wanted =
        std::any_of(categories_.begin(), categories_.end(), [&](const std::string& category) {
          return EqualsInAnyCase(category, *event_name->category);
        });
    if (!wanted) return false;
  }
  if (streams_.empty()) return true;
  TRACEDB_ASSIGN(track, texts.Track(row.track));
  const std::string* stream = track->stream.has_value() ? &*track->stream : nullptr;
  if (stream == nullptr) {
    const auto thread = stream_threads_.find({track->pid, track->tid});
    if (thread == stream_threads_.end()) return true;
    stream = &thread->second;
  }
  return std::find(streams_.begin(), streams_.end(), *stream) != streams_.end();
}

}  // namespace tracedb
