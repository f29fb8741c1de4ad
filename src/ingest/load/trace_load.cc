#include "tracedb/ingest/load/trace_load.h"

#include "ingest/load/database_landing.h"
#include "ingest/load/trace_reading.h"

namespace tracedb {

Result<LoadSummary> LoadTrace(const InputFile& input, const std::filesystem::path& database,
                              const LoadOptions& options) {
  KeptConnection kept;
  return LoadTrace(input, database, options, kept);
}

Result<LoadSummary> LoadTrace(const InputFile& input, const std::filesystem::path& database,
                              const LoadOptions& options, KeptConnection& kept) {
  Stopwatch watch;
  TRACEDB_ASSIGN(landing, DatabaseLanding::Begin(database, options, kept));
  TRACEDB_TRY(landing.CheckTakesTraces());
  if (!options.replace) {
    TRACEDB_ASSIGN(traces_of_size, TracesOfSize(input, landing));
    TRACEDB_ASSIGN(unchanged, FindUnchangedFile(input, options.stop, traces_of_size));
    if (unchanged.has_value()) return *std::move(unchanged);
  }
  TraceReading reading(input, options);
  TRACEDB_ASSIGN(rows, landing.MakeRows());
  TRACEDB_TRY(reading.Read(rows, landing.place(), landing.place().first));
  TRACEDB_ASSIGN(summary, reading.Land(landing));
  summary.seconds = watch.Lap();
  return summary;
}

}  // namespace tracedb
