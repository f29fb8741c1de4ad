// A damaged database, through what the commands do with one: an answer that is well formed, or an
// error with a message; and where something is to be added and is not, the database is as it was.
//
// The first byte says which command; the others are edits (database_edits.h) of a small sound
// database, made at the start: of pages of 1,024 bytes, so that its trees have several levels.

#include <fcntl.h>
#include <unistd.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "database_edits.h"
#include "memory_folder.h"
#include "tracedb/base/sqlite_db.h"
#include "tracedb/cut/cut_command.h"
#include "tracedb/doctor/doctor_checks.h"
#include "tracedb/extension/interval_functions.h"
#include "tracedb/ingest/load/trace_load.h"
#include "tracedb/json/json_check.h"
#include "tracedb/pages/page_check.h"
#include "tracedb/pages/staged_changes.h"
#include "tracedb/pages/tree_graft.h"
#include "tracedb/query/doc/query_builtin.h"
#include "tracedb/query/doc/query_catalog.h"
#include "tracedb/query/run/query_database.h"
#include "tracedb/query/run/query_run.h"
#include "tracedb/ranks/clocks/align_clocks.h"
#include "tracedb/ranks/stalls/stall_causes.h"
#include "tracedb/text/result_sink.h"

namespace {

using namespace tracedb;
namespace fs = std::filesystem;

[[noreturn]] void Fail(const std::string& what) {
  std::fprintf(stderr, "%s\n", what.c_str());
  std::abort();
}

std::string ReadFile(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

void WriteFile(const fs::path& path, const std::string& text) {
  std::ofstream(path, std::ios::binary | std::ios::trunc) << text;
}

std::string Event(const std::string& category, const std::string& name, int64_t ts, int tid,
                  const std::string& args) {
  return "{\"ph\":\"X\",\"cat\":\"" + category + "\",\"name\":\"" + name +
         "\",\"pid\":1,\"tid\":" + std::to_string(tid) + ",\"ts\":" + std::to_string(ts) +
         ".125,\"dur\":7,\"args\":{" + args + "}},\n";
}

// Steps, operators, launches, kernels, collectives, arrows, counters.
std::string TraceText(int rank, int repeats) {
  std::string text = "{\"distributedInfo\":{\"rank\":" + std::to_string(rank) +
                     ",\"world_size\":2},\"traceEvents\":[\n";
  for (int i = 0; i < repeats; ++i) {
    const int64_t at = 100 * i + rank;
    const std::string number = std::to_string(i + 1);
    const std::string ids = "\"correlation\":" + number + ",\"External id\":" + number;
    if (i % 20 == 0) {
      text += Event("user_annotation", "ProfilerStep#" + std::to_string(i / 20), at, 2, "");
    }
    text += Event("cpu_op", "aten::op" + std::to_string(i % 5), at + 1, 2,
                  "\"External id\":" + number + ",\"x\":" + std::to_string(1000 + i));
    text += Event("cuda_runtime", "cudaLaunchKernel", at + 2, 2, ids);
    const bool sends = i % 4 == 0;
    text +=
        Event("kernel", sends ? "ncclDevKernel_AllReduce_Sum_f32_RING_LL(x)" : "gemm", at + 9, 7,
              "\"device\":0,\"stream\":7," + ids +
                  (sends ? ",\"Collective name\":\"allreduce\",\"Process Group Name\":\"0\","
                           "\"Process Group Ranks\":\"[0, 1]\",\"Group size\":2,"
                           "\"In msg nelems\":1000,\"dtype\":\"Float\""
                         : ""));
    for (const char* phase : {"s", "f"}) {
      text += "{\"ph\":\"" + std::string(phase) +
              "\",\"cat\":\"ac2g\",\"name\":\"ac2g\",\"id\":" + number +
              ",\"pid\":1,\"tid\":2,\"ts\":" + std::to_string(at + 3) + "},\n";
    }
    text += "{\"ph\":\"C\",\"name\":\"c\",\"pid\":1,\"ts\":" + std::to_string(at) +
            ",\"args\":{\"v\":" + number + "}},\n";
  }
  return text + "{\"ph\":\"M\",\"name\":\"process_name\",\"pid\":1,\"args\":{\"name\":\"p\"}}]}";
}

LoadOptions Options() {
  LoadOptions options;
  options.limits = LoadLimits::For(LoadLimits::kMemoryBytesMin, 1);
  return options;
}

Status CompareRanks(const fs::path& database, AlignScope align, ExplainScope explain) {
  constexpr int64_t kCacheKib = 8192;
  TRACEDB_ASSIGN(db, OpenToCompare(database, kCacheKib, nullptr));
  TRACEDB_TRY(AlignClocks(db, align));
  ExplainOptions options;
  options.scope = explain;
  options.threads = 2;
  options.stalls_each = 1;
  return ExplainStalls(db, options);
}

void Must(const Status& done) {
  if (!done.ok()) Fail("the sound database cannot be made: " + done.error().what);
}

class Inputs {
 public:
  Inputs() {
    const fs::path wide = folder_ / "wide.db";
    WriteFile(folder_ / "rank0.json", TraceText(0, 60));
    WriteFile(folder_ / "rank1.json", TraceText(1, 60));
    WriteFile(added(), TraceText(2, 20));
    Load("rank0.json", wide);
    Load("rank1.json", wide);
    Must(CompareRanks(wide, AlignScope::kEverything, ExplainScope::kEverything));
    Shrink(wide, folder_ / "base.db");
    base_ = ReadFile(folder_ / "base.db");
    // What is added as pages: the same tables, with rows behind those of the base.
    fs::copy_file(wide, folder_ / "both.db");
    WriteFile(folder_ / "rank3.json", TraceText(3, 300));
    Load("rank3.json", folder_ / "both.db");
    Must(OnlyLast(folder_ / "both.db"));
    Shrink(folder_ / "both.db", source());
  }

  fs::path database() const { return folder_ / "fuzz.db"; }
  fs::path added() const { return folder_ / "rank2.json"; }
  fs::path source() const { return folder_ / "source.db"; }
  fs::path output() const { return folder_ / "cut.json"; }
  const std::string& base() const { return base_; }

 private:
  void Load(const char* name, const fs::path& database) const {
    const auto loaded = LoadTrace({folder_ / name, {}}, database, Options());
    if (!loaded.ok()) Fail("the sound database cannot be made: " + loaded.error().what);
  }

  static void Shrink(const fs::path& from, const fs::path& to) {
    auto db = SqliteDb::Open(from, SqliteMode::kReadWrite);
    if (!db.ok()) Fail(db.error().what);
    Must(db.value().Execute("PRAGMA page_size = 1024; VACUUM INTO '" + to.string() + "'"));
  }

  static Status OnlyLast(const fs::path& database) {
    TRACEDB_ASSIGN(db, SqliteDb::Open(database, SqliteMode::kReadWrite));
    for (const char* table : {"_cpu_slice", "_runtime_slice", "_gpu_slice", "_flow"}) {
      TRACEDB_TRY(db.Execute("DELETE FROM " + std::string(table) +
                             " WHERE id < (SELECT first_row FROM _trace WHERE rank = 3)"));
    }
    return Done{};
  }

  MemoryFolder memory_{"fuzz_database"};
  const fs::path& folder_ = memory_.path();
  std::string base_;
};

void CheckMessage(const Error& error) {
  if (error.what.empty()) Fail("an error without a message");
}

Status Query(const fs::path& database, const QueryDoc& doc) {
  TRACEDB_ASSIGN(db, OpenTraceDatabase(database));
  if (RegisterIntervalFunctions(db.handle()) != 0) Fail("no functions");
  StringOutput output;
  const auto sink = MakeSink(Format::kJson, {}, output);
  TRACEDB_ASSIGN(query, PreparedQuery::Prepare(db, doc, {}));
  TRACEDB_TRY(query.Run(*sink));
  TRACEDB_TRY(output.Flush());
  if (!IsJson(output.text())) Fail(doc.name + " gives broken JSON: " + output.text());
  return Done{};
}

Status Doctor(const fs::path& database, const QueryCatalog& catalog) {
  TRACEDB_ASSIGN(db, OpenTraceDatabase(database));
  if (RegisterIntervalFunctions(db.handle()) != 0) Fail("no functions");
  TRACEDB_TRY(RunChecks(db, catalog));
  return Done{};
}

Status Cut(const Inputs& inputs, const QueryCatalog&, uint8_t way) {
  const std::atomic<bool> stop = false;
  CutOptions options;
  options.database = inputs.database();
  options.output = inputs.output();
  if (way % 4 == 1) options.ranks = "1";
  if (way % 4 == 2) options.steps = "1..2";
  if (way % 4 == 3) options.events_max = 50;
  fs::remove(inputs.output());
  TRACEDB_TRY(CutTrace(options, stop));
  if (!IsJson(ReadFile(inputs.output()))) Fail("a cut that is no JSON");
  return Done{};
}

Status CheckSound(const fs::path& database) {
  TRACEDB_ASSIGN(db, SqliteDb::Open(database, SqliteMode::kReadWrite));
  return CheckPages(db, nullptr);
}

Status Ingest(const Inputs& inputs) {
  const std::string before = ReadFile(inputs.database());
  const auto loaded = LoadTrace({inputs.added(), {}}, inputs.database(), Options());
  if (!loaded.ok()) {
    if (ReadFile(inputs.database()) != before) Fail("an ingest that fails changes the database");
    return loaded.error();
  }
  if (const Status sound = CheckSound(inputs.database()); !sound.ok()) {
    Fail("an ingest damages the database: " + sound.error().what);
  }
  return CompareRanks(inputs.database(), AlignScope::kNewTraces, ExplainScope::kNewTraces);
}

// The trees of the large tables in both files.
Result<std::vector<TreeGraft::Tree>> Trees(SqliteDb& from, SqliteDb& to) {
  std::vector<TreeGraft::Tree> trees;
  for (const char* table : {"_cpu_slice", "_runtime_slice", "_gpu_slice", "_flow"}) {
    const std::string sql =
        "SELECT type = 'index', rootpage FROM sqlite_schema WHERE tbl_name = '" +
        std::string(table) + "' ORDER BY type DESC, name";
    TRACEDB_ASSIGN(ours, from.Prepare(sql));
    TRACEDB_ASSIGN(theirs, to.Prepare(sql));
    for (;;) {
      TRACEDB_ASSIGN(one, ours.Step());
      TRACEDB_ASSIGN(other, theirs.Step());
      if (!one || !other) break;
      trees.push_back({ours.Int(0) == 1, static_cast<uint32_t>(ours.Int(1)),
                       static_cast<uint32_t>(theirs.Int(1))});
    }
  }
  return trees;
}

// Without the checks that come before a graft in the program: it must end all the same.
Status Graft(const Inputs& inputs) {
  const std::string before = ReadFile(inputs.database());
  TRACEDB_ASSIGN(staged, StagedChanges::Begin(inputs.database(), {}));
  if (staged == nullptr) return Done{};
  const int source = open(inputs.source().c_str(), O_RDONLY | O_CLOEXEC);
  const auto grafted = [&]() -> Status {
    std::vector<TreeGraft::Tree> trees;
    {
      TRACEDB_ASSIGN(db, staged->Connect());
      TRACEDB_ASSIGN(from, SqliteDb::Open(inputs.source(), SqliteMode::kFrozen));
      TRACEDB_ASSIGN(found, Trees(from, db));
      trees = std::move(found);
      TRACEDB_TRY(db.Execute("UPDATE _trace SET events = 1 WHERE trace_id = 1"));
    }
    const auto pages = static_cast<uint32_t>(fs::file_size(inputs.source()) / 1024);
    if (staged->sizes().page_bytes != 1024) return Done{};
    TreeGraft graft(*staged, {source, pages, inputs.source()});
    TRACEDB_TRY(graft.Add(trees));
    return staged->Commit();
  };
  const Status done = grafted();
  staged.reset();
  close(source);
  if (!done.ok() && ReadFile(inputs.database()) != before) {
    Fail("a graft that fails changes the database");
  }
  return done;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static const Inputs inputs;
  static const auto catalog = QueryCatalog::Load(BuiltInQueries());
  if (!catalog.ok()) Fail(catalog.error().what);
  if (size < 1) return 0;
  WriteFile(inputs.database(), inputs.base());
  EditDatabase(inputs.database().string(), {data + 1, size - 1});
  const auto& queries = catalog.value().queries();
  constexpr int kQueriesEach = 4;
  Status done = Done{};
  switch (data[0] % 8) {
    case 0:
    case 1:
      done = Cut(inputs, catalog.value(), data[0] / 8);
      break;
    case 2:
      done = Ingest(inputs);
      break;
    case 3:
    case 4:
      done = Graft(inputs);
      break;
    case 5:
      done = Doctor(inputs.database(), catalog.value());
      break;
    default:
      for (int i = 0; i < kQueriesEach; ++i) {
        const size_t n = (size_t{data[0]} / 8 * kQueriesEach + static_cast<size_t>(i));
        done = Query(inputs.database(), queries[n % queries.size()]);
        if (!done.ok()) CheckMessage(done.error());
      }
  }
  if (!done.ok()) CheckMessage(done.error());
  for (const char* left : {"-journal", ".partial"}) fs::remove(inputs.database().string() + left);
  return 0;
}
