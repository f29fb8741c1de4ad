// Batches of events, in the trace's order -> rows. Decides which table an event belongs to,
// matches begins with ends, and gives texts their numbers in the database.
//
// A bad event is an issue, never an error; an error means that the rows could not be written.
// Memory: the dictionaries and open slices within LoadLimits, whatever the trace.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "ingest/build/open_slices.h"
#include "ingest/build/row_lots.h"
#include "ingest/build/trace_times.h"
#include "ingest/parse/event_batch.h"
#include "tracedb/base/apart_bytes.h"
#include "tracedb/derive/gathered/host_slices.h"
#include "tracedb/derive/trace_namings.h"
#include "tracedb/memory/load_limits.h"
#include "tracedb/memory/text_dictionary.h"
#include "tracedb/schema/event_tables.h"
#include "tracedb/schema/kind_rules.h"

namespace tracedb {

// What a trace's rows are numbered from.
struct FirstIds {
  int64_t trace_id = 1;
  int64_t row = 1;
  int64_t text = 1;
  int64_t path = 1;  // in _call_path

  bool operator==(const FirstIds&) const = default;
};

struct BuildSummary {
  uint64_t events = 0;  // taken in: rows, and ends that closed a slice
  uint64_t slices = 0;
  uint64_t gpu_activities = 0;
  std::optional<int64_t> first_start_ns;  // since the trace's own zero; metadata left aside
  std::optional<int64_t> last_end_ns;
  int64_t origin_ns = 0;  // what a row's ts counts from, since the trace's own zero
  int64_t last_row = 0;
  int64_t last_text = 0;
  TimeRule times;  // once all events are in; counts as rows do
};

class alignas(kApartBytes) RecordBuilder {
 public:
  RecordBuilder(RowLots& rows, const LoadLimits& limits, const KindRules& rules, FirstIds first,
                bool keep_args);

  Status Add(const EventBatch& batch);
  // The trace is over: what is still open becomes instants.
  Status Finish();

  const BuildSummary& summary() const { return summary_; }
  const TraceNamings& namings() const { return namings_; }
  EventIssues& issues() { return issues_; }

 private:
  // What the builder knows of a parser's numbers.
  struct LocalEventName {
    int64_t id = 0;
    uint64_t category_hash = 0;
    bool named = false;
    EventTable table = EventTable::kCpuSlice;
    GpuKind gpu_kind = GpuKind::kCompute;
    bool kernel = false;      // a GPU activity that is no copy or fill by its category
    bool naming = false;      // of a process or thread, where it is a metadata event's
    bool cuda_event = false;  // its times are 0 where CUDA did not take them
    HostCall host_call;
    int64_t step = -1;  // of a ProfilerStep
  };
  struct ArgsFacts {
    bool collective = false;
    bool repaired = false;  // the args were no JSON: each event that has them is counted
  };
  struct LocalArgsText {
    int64_t id = 0;
    uint32_t text = kNoText;  // its number in the dictionary; kNoText: not there
    ArgsFacts facts;
  };
  struct LocalTexts {
    std::vector<LocalEventName> event_names;
    std::vector<int64_t> tracks;
    std::vector<LocalArgsText> args_texts;
  };
  // A text's number in the database, and whether it must be written.
  struct Numbered {
    int64_t id;
    uint32_t text;  // its number in the dictionary; kNoText: there was no room
    bool is_new;
  };

  Status AddTexts(const EventBatch& batch, LocalTexts& texts);
  Status AddEventName(std::string_view text, LocalTexts& texts);
  Status AddTrack(std::string_view text, LocalTexts& texts);
  Status AddArgsText(std::string_view text, LocalTexts& texts);
  Numbered Number(TextKind kind, std::string_view text);

  Status AddEvent(const EventBatch& batch, const EventRecord& record, const LocalTexts& texts);
  Status AddSlice(const EventRecord& record, const LocalEventName& event_name,
                  const LocalArgsText& args_text, EventRow& row);
  Status AddPoint(EventTable table, const EventRecord& record, EventRow& row);
  Status Begin(uint64_t key, const EventRecord& record, const LocalEventName& event_name,
               const LocalArgsText& args_text, EventRow& row);
  // `event_name`: only a begin of this name and category will do; 0: any.
  Status End(uint64_t key, int64_t event_name, const EventRecord& record,
             const LocalArgsText& args_text, EventRow& row);
  Status MergeEnd(const OpenSlice& open, const LocalArgsText& end_args, EventRow& slice,
                  ArgsValues& values, bool& merged);
  void ReadValues(const EventBatch& batch, const EventRecord& record);
  static bool IsWithoutTiming(const EventRecord& record, const LocalEventName& event_name);
  void NoteTime(const EventRecord& record, const LocalEventName& event_name);

  RowLots& rows_;
  ArgsTextReader args_reader_;
  LoadLimits limits_;
  const KindRules& rules_;
  int64_t trace_id_;
  bool keep_args_;
  std::array<TextDictionary, kTextKinds> dictionaries_;
  std::array<std::vector<int64_t>, kTextKinds> ids_;  // of the dictionaries' texts
  std::vector<ArgsFacts> args_facts_;                 // of the dictionary's texts of args
  std::vector<LocalTexts> local_;                     // one a parser
  OpenSlices open_;
  ArgsValues values_;
  int64_t next_row_;
  int64_t next_text_;
  bool has_origin_ = false;
  TraceNamings namings_;
  TraceTimes times_;
  BuildSummary summary_;
  EventIssues issues_;
};

}  // namespace tracedb
