// Any bytes as a trace file, through the whole load: the database must be whole, and the same
// whatever the blocks and the number of parsers; added to another trace its rows must be the same.

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "memory_folder.h"
#include "tracedb/base/sqlite_db.h"
#include "tracedb/ingest/load/trace_load.h"

namespace {

using namespace tracedb;
namespace fs = std::filesystem;

constexpr const char* kOtherTrace =
    "{\"distributedInfo\":{\"rank\":77},\"traceEvents\":[{\"ph\":\"X\",\"cat\":\"kernel\","
    "\"name\":\"k\",\"pid\":0,\"tid\":7,\"ts\":1,\"dur\":2,\"args\":{\"correlation\":12345}}]}";

// What is compared: ids go on from trace to trace, everything else is the same.
const std::map<std::string, std::string_view> kViews = {
    {"slices",
     "rank, category, name, ts_ns, dur_ns, pid, tid, device, stream, correlation, external_id, "
     "args, others"},
    {"kernels", "rank, device, stream, name, kind, ts_ns, dur_ns, step"},
    {"instants", "rank, category, name, phase, ts_ns, args, others"},
    {"flows", "rank, name, phase, flow_id, ts_ns, args, others"},
    {"counters", "rank, name, series, value, ts_ns, others"},
    {"memory_events", "ts_ns, addr, bytes, total_allocated_bytes"},
    {"metadata", "name, ts_ns, pid, tid, args, others"},
    {"collectives", "rank, group_id, ordinal, collective, ts_ns, dur_ns"},
    {"steps", "rank, step, ts_ns, dur_ns"},
    {"processes", "pid, name, sort_index, labels"},
    {"threads", "pid, tid, name, sort_index"},
    {"issues", "kind, count, first_offset, first_excerpt"},
};

[[noreturn]] void Fail(const std::string& what) {
  std::fprintf(stderr, "%s\n", what.c_str());
  std::abort();
}

// The database as text: each table's rows, less what differs from load to load.
std::map<std::string, std::string> Dump(const fs::path& database, const std::string& where) {
  auto db = SqliteDb::Open(database, SqliteMode::kReadOnly);
  if (!db.ok()) Fail(db.error().what);
  std::map<std::string, std::string> tables;
  const auto add = [&](const std::string& name, const std::string& sql) {
    auto rows = db.value().Prepare(sql);
    if (!rows.ok()) Fail(sql + ": " + rows.error().what);
    std::string& text = tables[name];
    for (;;) {
      const auto row = rows.value().Step();
      if (!row.ok()) Fail(sql + ": " + row.error().what);
      if (!row.value()) break;
      for (int i = 0; i < rows.value().ColumnCount(); ++i) {
        text += rows.value().Text(i);
        text += '|';
      }
      text += '\n';
    }
  };
  add("check", "PRAGMA integrity_check");
  if (tables["check"] != "ok|\n") Fail(database.string() + ": " + tables["check"]);
  for (const auto& [view, columns] : kViews) {
    const std::string list(columns);
    add(view, "SELECT " + list + " FROM " + view + where + " ORDER BY " + list);
  }
  return tables;
}

struct Way {
  size_t block_bytes;
  unsigned parsers;
};

bool Load(const fs::path& input, const fs::path& database, Way way) {
  LoadOptions options;
  options.limits = LoadLimits::For(LoadLimits::kMemoryBytesMin, way.parsers);
  options.limits.window_bytes = 1024;  // so that windows end often
  options.limits.event_bytes_max = 4096;
  options.limits.resync_bytes = 512;
  options.limits.dictionary_bytes_max = 16 * 1024;
  options.limits.depth_max = 64;
  options.block_bytes = way.block_bytes;
  return LoadTrace(input, database, options).ok();
}

void Expect(const std::map<std::string, std::string>& wanted,
            const std::map<std::string, std::string>& got, const char* how) {
  for (const auto& [table, rows] : wanted) {
    if (got.at(table) == rows) continue;
    Fail(std::string(how) + ": " + table + " differs\n--- wanted\n" + rows + "--- got\n" +
         got.at(table));
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static const MemoryFolder folder("fuzz_load");
  [[maybe_unused]] static const bool has_other = [] {
    std::ofstream(folder.path() / "other.json") << kOtherTrace;
    return true;
  }();
  const fs::path input = folder.path() / "rank3.json";
  const fs::path database = folder.path() / "fuzz.db";
  std::ofstream(input, std::ios::binary)
      .write(reinterpret_cast<const char*>(data), static_cast<std::streamsize>(size));
  fs::remove(database);
  const bool loads = Load(input, database, {0, 1});
  if (!loads) {
    if (fs::exists(database)) Fail("a trace that does not load left a database");
    return 0;
  }
  const auto wanted = Dump(database, "");
  for (const Way way : {Way{1, 1}, Way{23, 2}}) {
    fs::remove(database);
    if (!Load(input, database, way)) Fail("loads only in one piece");
    Expect(wanted, Dump(database, ""), "cut into blocks");
  }
  fs::remove(database);
  if (!Load(folder.path() / "other.json", database, {0, 1})) Fail("the other trace does not load");
  if (!Load(input, database, {0, 1})) Fail("loads only into a new database");
  const auto added = Dump(database, " WHERE trace_id = 2");
  if (added.at("slices").empty() == wanted.at("slices").empty()) {
    Expect(wanted, added, "added to another");
  } else {
    Fail("rows are lost where the trace is added to another");
  }
  return 0;
}
