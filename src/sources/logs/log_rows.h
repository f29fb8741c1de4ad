// What a training log becomes: rows of the tables _log_*.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "sources/logs/log_line.h"
#include "sources/logs/log_pairs.h"
#include "tracedb/pages/record_encoder.h"
#include "tracedb/sources/read/source_reader.h"

namespace tracedb {

// Where in a log something stands, and who wrote it.
struct LogPlace {
  uint64_t line = 0;                 // its number, from 1
  std::optional<int64_t> iteration;  // the last one before it; of an iteration's line: itself
  std::optional<int64_t> at_ns;      // its own time
  std::optional<int64_t> after_ns;   // the last time before it
  std::optional<int64_t> rank;
  std::string_view writer;
};

// How the numbers of a row of _log_timer are to be read.
enum class TimerForm { kOne, kMinMax, kMax, kRanks };

struct LogTimers {
  TimerForm form = TimerForm::kOne;
  std::string names;    // one a line
  std::string numbers;  // JSON array without its brackets
  void AddName(std::string_view name) { names.append(name).append(1, '\n'); }
};

// The name columns of _log_iteration, each with what loggers call it.
enum class IterationColumn {
  kElapsed,
  kLoss,
  kGradNorm,
  kTflops,
  kLearningRate,
  kBatchSize,
  kSamples,
  kTokens,
  kCount
};

class LogRows {
 public:
  // Tables in the order of rows.pages.
  static std::span<const std::string_view> Tables();
  explicit LogRows(SourceRows& rows) : rows_(rows) {}

  // Reads "name: number | name: number |" with the names of the last line: most lines are like the
  // one before, and nothing has to be looked for. False: ReadLogPairs() has to read it.
  bool ReadAsLast(std::string_view text, std::vector<LogPair>& pairs) const;
  // The names are those of the last line, in the same order.
  bool HasLastForm(const std::vector<LogPair>& pairs) const;
  Status AddIteration(const LogPlace& place, const LogHead& head,
                      const std::vector<LogPair>& pairs);
  // `dataset`: of "validation loss at iteration 14 on test set".
  Status AddEvaluation(const LogPlace& place, std::string_view dataset,
                       const std::vector<LogPair>& pairs);
  Status AddTimers(const LogPlace& place, const LogTimers& timers);
  Status AddTimerSlice(const LogPlace& place, std::string_view name, int64_t ordinal,
                       int64_t start_ns, int64_t end_ns);
  Status AddMemory(const LogPlace& place, std::string_view name, double mb);
  // `section`: "arguments", or what stands around it.
  Status AddArgument(const LogPlace& place, std::string_view section, std::string_view name,
                     std::string_view value);
  Status AddEvent(const LogPlace& place, std::string_view name, std::optional<int64_t> pid);
  Status AddStraggler(const LogPlace& place, std::string_view name, std::string_view value,
                      std::string_view unit, std::string_view of_rank);
  Status AddMessage(const LogPlace& place, std::string_view kind, std::string_view position,
                    uint64_t count, std::string_view text);
  Status AddSetting(const LogPlace& place, std::string_view kind, std::string_view name,
                    std::string_view value);

 private:
  // Lines that have the same names in the same order; most lines of a log have one of a few.
  struct Form {
    int64_t id = 0;
    std::vector<std::string> names;
    size_t columns[static_cast<size_t>(IterationColumn::kCount)];  // places in names, from 1; 0: no
    bool has_seconds = false;  // the elapsed time is one of seconds
  };
  enum Table : size_t {
    kNames,
    kIteration,
    kEvaluation,
    kTimer,
    kTimerSlice,
    kMemory,
    kArgument,
    kEvent,
    kStraggler,
    kMessage,
    kSetting,
    kTables
  };
  Result<const Form*> FormOf(const std::vector<LogPair>& pairs);
  Result<int64_t> NamesId(const std::string& names, const std::string& units);
  // A row begins with its place; its other columns follow in the order of the table.
  void Begin(const LogPlace& place);
  void Optional(const std::optional<int64_t>& value);
  void TextOrNull(std::string_view text);
  void Numbers(const std::vector<LogPair>& pairs);
  Status End(Table table);

  SourceRows& rows_;
  RecordEncoder record_;
  int64_t last_rowids_[kTables] = {};
  std::map<std::string, Form> forms_;  // by names and units as JSON
  std::map<std::string, int64_t> names_ids_;
  size_t forms_bytes_ = 0, names_ids_bytes_ = 0;
  const Form* last_form_ = nullptr;
  int64_t last_names_id_ = 0;
  std::string last_timers_;  // the names of the last block
  int64_t last_timers_id_ = 0;
  std::string names_json_, units_json_, numbers_json_;
};

}  // namespace tracedb
