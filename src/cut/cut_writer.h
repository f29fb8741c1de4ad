// Writes the events of the chosen traces, one trace after another.
#pragma once

#include <atomic>
#include <functional>
#include <optional>
#include <string>

#include "cut/cut_budget.h"
#include "cut/cut_event.h"
#include "cut/cut_filter.h"
#include "cut/cut_path.h"
#include "cut/cut_processes.h"
#include "cut/cut_source.h"
#include "cut/cut_texts.h"
#include "tracedb/base/result.h"
#include "tracedb/base/sqlite_db.h"
#include "tracedb/cut/cut_command.h"
#include "tracedb/text/output_stream.h"

namespace tracedb {

class CutWriter {
 public:
  // All but the options must live longer.
  static Result<CutWriter> Open(SqliteDb& db, const CutSources& sources, const CutOptions& options,
                                const std::atomic<bool>& stop);

  // The whole file, header and all. Counts into `report`.
  Status Write(OutputStream& output, CutReport& report);

 private:
  CutWriter(SqliteDb& db, const CutSources& sources, CutFilter filter, CutTexts texts,
            CutEventText event_text, const std::atomic<bool>& stop)
      : db_(db),
        sources_(sources),
        filter_(std::move(filter)),
        texts_(std::move(texts)),
        event_text_(std::move(event_text)),
        stop_(stop) {}

  // Every row of the trace that is wanted, budget aside, with how many events it becomes.
  using RowFunction = std::function<Status(const CutRow&, CutEventText::Form)>;
  Status ForEachRow(const CutSource& trace, const RowFunction& function);
  Status WriteTrace(const CutSource& trace, int64_t index, OutputStream& output, CutReport& report);
  Status WriteRow(const CutSource& trace, const CutRow& row, CutEventText::Form form,
                  const IdSpace& ids, OutputStream& output, CutReport& report);
  Status WritePath(OutputStream& output, CutReport& report);
  Status WriteEvent(std::string_view event, OutputStream& output);
  EventTimes TimesOf(const CutSource& trace, const CutRow& row) const;

  SqliteDb& db_;
  const CutSources& sources_;
  CutFilter filter_;
  CutTexts texts_;
  CutEventText event_text_;
  const std::atomic<bool>& stop_;
  std::optional<CutBudget> budget_;
  std::optional<int64_t> events_max_;
  std::optional<CutProcesses> processes_;  // of several traces
  std::optional<CutPath> path_;
  std::string path_left_out_;
  bool clip_ = false;
  bool incoming_ = false;
  bool any_ = false;  // an event has been written
  std::string event_;
};

}  // namespace tracedb
