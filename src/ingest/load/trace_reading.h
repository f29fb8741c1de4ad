// One trace's way into the database: its rows are made in a file of their own, with what queries
// need to be worked out, and when it is its turn it lands.
#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "ingest/build/record_builder.h"
#include "ingest/build/trace_header.h"
#include "ingest/load/database_landing.h"
#include "ingest/load/event_pipeline.h"
#include "ingest/load/stopwatch.h"
#include "tracedb/base/result.h"
#include "tracedb/derive/collectives/derive_groups.h"
#include "tracedb/ingest/load/trace_load.h"
#include "tracedb/schema/kind_rules.h"

namespace tracedb {

class TraceReading {
 public:
  // `input` and `options` must outlive it.
  TraceReading(const InputFile& input, const LoadOptions& options)
      : input_(input), options_(options) {}

  // Reads all of the input into `rows_file`, an empty file.
  Status Read(const std::filesystem::path& rows_file, const LandingPlace& place,
              const FirstIds& first);
  // The id of its first call path, where Read() was not told it; before DeriveAhead().
  void BeginPathsWith(int64_t path) { first_.path = next_path_ = path; }
  // Works out what queries need, before it is the trace's turn; only after Read(). Where nothing
  // but the traces before it tells its rank, Land() does that.
  Status DeriveAhead(const std::filesystem::path& rows_file);
  // Those of a trace after this one, if this one lands. Only after Read().
  FirstIds NextIds() const;
  // Copies the rows into `renumbered`, an empty file, with other ids. Only after DeriveAhead().
  Status Renumber(const std::filesystem::path& rows_file, const std::filesystem::path& renumbered,
                  const FirstIds& first);
  // Only after Read(), whose rows are where the landing has them; numbered anew where their ids are
  // not those after the database's.
  Result<LoadSummary> Land(DatabaseLanding& landing);

  // Whether nothing is left to be done but to add its rows to a database that has others, whose
  // next ids are `first`, and in which no trace has its text. Only after DeriveAhead().
  bool IsReadyFor(const FirstIds& first) const;
  // What is to be said of it once it has landed.
  LoadSummary Summary() const;
  const std::string& text_hash() const { return read_.text_hash; }

  const InputFile& input() const { return input_; }
  const FirstIds& first() const { return first_; }
  // Whether all has been worked out that a trace alone tells.
  bool is_derived() const { return is_derived_; }

 private:
  Status StoreTrace(SqliteDb& db);
  Status StoreIssues(SqliteDb& db);
  Result<ArgsParallelism> StoreFacts(SqliteDb& db, int64_t base, const ParallelismRules& rules);
  RankChoice TellRank() const;
  Status ChooseFreeRank(DatabaseLanding& landing);
  Status Derive(const std::filesystem::path& rows_file, bool is_first);
  Status StoreDerived(const std::filesystem::path& rows_file, bool is_first);
  // Which is the only one of a new database.
  Status LookAtRun(SqliteDb& db);
  bool WillLand() const;

  const InputFile& input_;
  const LoadOptions& options_;
  FirstIds first_;
  std::optional<KindRules> rules_;
  ParallelismRules parallelism_rules_;
  std::optional<GatheredSlices> gathered_;
  std::optional<RecordBuilder> builder_;
  BuildSummary built_;
  int64_t next_path_ = 1;
  ReadOutcome read_;
  TraceHeader header_;
  RankChoice rank_;
  EventIssues issues_;
  bool is_derived_ = false;
  std::optional<std::string> only_run_;  // of the first trace of a database
  bool launches_graphs_ = false;         // of that as well
  double read_seconds_ = 0;
  double derive_seconds_ = 0;
};

// The traces in the database that were read from files as long as this one, by the files' hashes.
Result<std::map<std::string, int64_t>> TracesOfSize(const InputFile& input,
                                                    DatabaseLanding& landing);

// What to say of a file that is one of those; nothing for others. Without unpacking it.
Result<std::optional<LoadSummary>> FindUnchangedFile(
    const InputFile& input, const std::atomic<bool>* stop,
    const std::map<std::string, int64_t>& traces_of_size);

}  // namespace tracedb
