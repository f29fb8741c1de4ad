#include "tracedb/extension/replay_tables.h"

#include <sqlite3.h>

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "extension/table_function.h"
#include "tracedb/base/run_caught.h"
#include "tracedb/replay/job_replay.h"

namespace tracedb {
namespace {

// Tables of SQLite's that exist by themselves (eponymous) and take two arguments, which are hidden
// columns: capture_id and changes. Columns of replay_path:
enum Column {
  kStep,
  kStart,
  kEnd,
  kDuration,
  kKind,
  kTrace,
  kRank,
  kSlice,
  kLaunchOf,
  kHeldBy,
  kHeldName
};

// What a connection's cursors share: the graph of the capture that was asked last. To build it is
// most of what a question takes, and a query asks several, so it is kept until another capture is
// asked, or the database is another than it was.
struct Shared {
  std::shared_ptr<JobReplay> replay;
  int64_t capture_id = 0;
  int64_t commits = 0;  // of other connections, as SQLite counts them
  int64_t changes = 0;  // of this one
  // What the same changes gave before: a query tries some alone, and then with others.
  std::map<std::string, std::vector<ReplayedStep>> steps;

  bool is_opening = false;

  Status BeOf(SqliteDb& db, int64_t capture) {
    if (is_opening) {
      return Error{ErrorKind::kQuery,
                   "a replay is asked for while its tables are being read: a view of this "
                   "database stands in for a table of tracedb; ingest the traces again",
                   ""};
    }
    TRACEDB_ASSIGN(commits_now, db.Integer("PRAGMA data_version"));
    const int64_t changes_now = sqlite3_total_changes64(db.handle());
    if (replay != nullptr && capture_id == capture && commits == commits_now &&
        changes == changes_now) {
      return Done{};
    }
    replay.reset();  // first, so that there are never two
    steps.clear();
    is_opening = true;
    Result<JobReplay> made = RunCaught([&] { return JobReplay::Open(db, capture); });
    is_opening = false;
    TRACEDB_ASSIGN(opened, std::move(made));
    replay = std::make_shared<JobReplay>(std::move(opened));
    capture_id = capture;
    commits = commits_now;
    changes = changes_now;
    return Done{};
  }

  Result<std::vector<ReplayedStep>> StepsOf(SqliteDb& db, const std::string& of_changes) {
    constexpr size_t kKeptMax = 64;
    constexpr size_t kStepsMax = 10'000;
    if (const auto known = steps.find(of_changes); known != steps.end()) return known->second;
    const std::shared_ptr<JobReplay> asked = replay;  // a hostile database's view may ask another
    TRACEDB_ASSIGN(found, asked->Steps(db, of_changes));
    const bool is_kept = steps.size() < kKeptMax && found.size() <= kStepsMax && asked == replay;
    if (is_kept) steps.emplace(of_changes, found);
    return found;
  }
};

enum class Kind { kSteps, kPath, kLine };

constexpr const char* kDeclared[] = {
    "CREATE TABLE x(step INTEGER, start_ns INTEGER, end_ns INTEGER, dur_ns INTEGER, "
    "capture_id HIDDEN, changes HIDDEN)",
    "CREATE TABLE x(step INTEGER, start_ns INTEGER, end_ns INTEGER, dur_ns INTEGER, kind TEXT, "
    "trace_id INTEGER, rank INTEGER, slice_id INTEGER, launch_of INTEGER, held_by INTEGER, "
    "held_name_id INTEGER, capture_id HIDDEN, changes HIDDEN)",
    "CREATE TABLE x(step INTEGER, start_ns INTEGER, end_ns INTEGER, dur_ns INTEGER, rank INTEGER, "
    "capture_id HIDDEN, changes HIDDEN)"};
constexpr const char* kNames[] = {"replay_steps", "replay_path", "replay_line"};
constexpr int kColumns[] = {4, 11, 5};

// What sqlite3_create_module keeps for each of them.
struct Module {
  std::shared_ptr<Shared> shared;
  Kind kind;
};

struct ReplayTable {
  sqlite3_vtab base;
  sqlite3* db;
  Module* module;
  int columns() const { return kColumns[static_cast<size_t>(module->kind)]; }
};

struct ReplayCursor {
  sqlite3_vtab_cursor base;
  SqliteDb db;
  std::shared_ptr<Shared> shared;
  std::vector<ReplayedStep> steps;
  // Held while its path is given out: what stands in for a table of a hostile database may ask for
  // another meanwhile.
  std::shared_ptr<JobReplay> replay;
  std::optional<CriticalPath> path;
  std::vector<PathPiece> pieces;  // of one step
  size_t at = 0;                  // in steps, or in pieces
  int64_t row = 0;
  Kind kind = Kind::kSteps;
  bool is_at_end() const { return at >= (kind == Kind::kSteps ? steps.size() : pieces.size()); }

  void Forget() {
    at = 0;
    row = 0;
    steps.clear();
    pieces.clear();
    path.reset();
    replay.reset();
  }

  Status Ask(int64_t capture, const std::string& changes) {
    Forget();
    TRACEDB_TRY(shared->BeOf(db, capture));
    if (kind == Kind::kSteps) {
      TRACEDB_ASSIGN(found, shared->StepsOf(db, changes));
      steps = std::move(found);
      return Done{};
    }
    replay = shared->replay;
    TRACEDB_ASSIGN(found,
                   replay->Path(db, changes,
                                kind == Kind::kPath ? PathDetail::kStretches : PathDetail::kRanks));
    path.emplace(std::move(found));
    return NextStep();
  }

  Status NextStep() {
    at = 0;
    TRACEDB_ASSIGN(any, path->Next(db, pieces));
    if (!any) {
      path.reset();
      replay.reset();
    }
    return Done{};
  }

  Status Advance() {
    ++at;
    ++row;
    return is_at_end() && path.has_value() ? NextStep() : Status(Done{});
  }
};

int Connect(sqlite3* db, void* data, int, const char* const*, sqlite3_vtab** made, char**) {
  auto* module = static_cast<Module*>(data);
  const int code = sqlite3_declare_vtab(db, kDeclared[static_cast<size_t>(module->kind)]);
  if (code != SQLITE_OK) return code;
  auto* table = new (std::nothrow) ReplayTable{{}, db, module};
  if (table == nullptr) return SQLITE_NOMEM;
  *made = &table->base;
  return SQLITE_OK;
}

int Disconnect(sqlite3_vtab* table) {
  delete reinterpret_cast<ReplayTable*>(table);
  return SQLITE_OK;
}

// Bit 0 of idxNum: capture_id is the first argument; bit 1: changes is the next.
int BestIndex(sqlite3_vtab* table, sqlite3_index_info* info) {
  info->estimatedCost = 1e6;
  info->estimatedRows = 100;
  return TakeArguments(info, reinterpret_cast<ReplayTable*>(table)->columns(), 2);
}

int Open(sqlite3_vtab* table, sqlite3_vtab_cursor** made) {
  const auto* own = reinterpret_cast<ReplayTable*>(table);
  auto* cursor = new (std::nothrow) ReplayCursor{
      {}, SqliteDb::Borrow(own->db), own->module->shared, {}, {}, {}, {}, 0, 0, own->module->kind};
  if (cursor == nullptr) return SQLITE_NOMEM;
  *made = &cursor->base;
  return SQLITE_OK;
}

int Close(sqlite3_vtab_cursor* cursor) {
  delete reinterpret_cast<ReplayCursor*>(cursor);
  return SQLITE_OK;
}

int Filter(sqlite3_vtab_cursor* base, int given, const char*, int count, sqlite3_value** values) {
  auto* cursor = reinterpret_cast<ReplayCursor*>(base);
  const Status status = RunCaught([&]() -> Status {
    if ((given & 1) == 0 || count < 1) {
      return Error{ErrorKind::kUsage, "a capture is wanted: replay_steps(capture_id, changes)", ""};
    }
    std::string changes;
    if ((given & 2) != 0 && sqlite3_value_type(values[1]) != SQLITE_NULL) {
      const auto* text = reinterpret_cast<const char*>(sqlite3_value_text(values[1]));
      if (text == nullptr) return OutOfMemory();
      changes = text;
    }
    return cursor->Ask(sqlite3_value_int64(values[0]), changes);
  });
  return TableCode(status, base);
}

int Next(sqlite3_vtab_cursor* base) {
  auto* cursor = reinterpret_cast<ReplayCursor*>(base);
  return TableCode(RunCaught([&]() -> Status { return cursor->Advance(); }), base);
}

int Eof(sqlite3_vtab_cursor* base) {
  return reinterpret_cast<ReplayCursor*>(base)->is_at_end() ? 1 : 0;
}

void GiveStep(sqlite3_context* context, const std::optional<int64_t>& step) {
  if (step.has_value()) sqlite3_result_int64(context, *step);
}

void GiveId(sqlite3_context* context, int64_t id) {
  if (id != 0) sqlite3_result_int64(context, id);
}

void GivePiece(sqlite3_context* context, const PathPiece& piece, int column) {
  switch (column) {
    case kStep:
      return GiveStep(context, piece.step);
    case kStart:
      return sqlite3_result_int64(context, piece.start_ns);
    case kEnd:
      return sqlite3_result_int64(context, piece.end_ns);
    case kDuration:
      return sqlite3_result_int64(context, DifferenceNs(piece.end_ns, piece.start_ns));
    case kKind: {
      const std::string_view kind = PieceKindText(piece.kind);
      return sqlite3_result_text(context, kind.data(), static_cast<int>(kind.size()),
                                 SQLITE_STATIC);
    }
    case kTrace:
      return sqlite3_result_int64(context, piece.trace_id);
    case kRank:
      return sqlite3_result_int64(context, piece.rank);
    case kSlice:
      return GiveId(context, piece.slice_id);
    case kLaunchOf:
      return GiveId(context, piece.launch_of);
    case kHeldBy:
      return GiveId(context, piece.held_by);
    case kHeldName:
      return GiveId(context, piece.held_name);
    default:
      return sqlite3_result_null(context);
  }
}

int GiveColumn(sqlite3_vtab_cursor* base, sqlite3_context* context, int column) {
  const auto* cursor = reinterpret_cast<ReplayCursor*>(base);
  if (cursor->kind != Kind::kSteps) {
    const bool is_rank = cursor->kind == Kind::kLine && column == kColumns[2] - 1;
    GivePiece(context, cursor->pieces[cursor->at], is_rank ? kRank : column);
    return SQLITE_OK;
  }
  const ReplayedStep& step = cursor->steps[cursor->at];
  switch (column) {
    case kStep:
      GiveStep(context, step.step);
      break;
    case kStart:
      sqlite3_result_int64(context, step.start_ns);
      break;
    case kEnd:
      sqlite3_result_int64(context, step.end_ns);
      break;
    case kDuration:
      sqlite3_result_int64(context, step.duration_ns());
      break;
    default:
      break;
  }
  return SQLITE_OK;
}

int GiveRowId(sqlite3_vtab_cursor* base, sqlite3_int64* id) {
  *id = reinterpret_cast<ReplayCursor*>(base)->row + 1;
  return SQLITE_OK;
}

// Without xCreate a table of this kind is there by its name alone.
constexpr sqlite3_module ReplayModule() {
  sqlite3_module module{};
  module.xConnect = Connect;
  module.xBestIndex = BestIndex;
  module.xDisconnect = Disconnect;
  module.xOpen = Open;
  module.xClose = Close;
  module.xFilter = Filter;
  module.xNext = Next;
  module.xEof = Eof;
  module.xColumn = GiveColumn;
  module.xRowid = GiveRowId;
  return module;
}

}  // namespace

Status RegisterReplayTables(SqliteDb& db) {
  static constexpr sqlite3_module kModule = ReplayModule();
  const auto shared = std::make_shared<Shared>();
  const auto forget = [](void* module) { delete static_cast<Module*>(module); };
  for (const Kind kind : {Kind::kSteps, Kind::kPath, Kind::kLine}) {
    // SQLite frees it in any case.
    if (sqlite3_create_module_v2(db.handle(), kNames[static_cast<size_t>(kind)], &kModule,
                                 new Module{shared, kind}, forget) != SQLITE_OK) {
      return SqliteError(db.handle(), "");
    }
  }
  return Done{};
}

}  // namespace tracedb
