#include "ranks/stalls/cause_threads.h"

#include <pthread.h>

#include <filesystem>
#include <thread>
#include <utility>

#include "tracedb/base/bounded_queue.h"
#include "tracedb/base/run_caught.h"

namespace tracedb {
namespace {

Status FindAll(CauseFinder& finder, StallBatch& batch) {
  for (StallCause& each : batch) {
    auto cause = finder.Find(each.stall);
    if (!cause.ok()) return std::move(cause).error();
    each.cause = std::move(cause).value();
  }
  return Done{};
}

struct Queues {
  explicit Queues(size_t count) : stalls(count), found(count) {}
  void Close() {
    stalls.Close();
    found.Close();
  }
  BoundedQueue<StallBatch> stalls;
  BoundedQueue<StallBatch> found;
};

// Runs on a thread of its own.
Status FindBatches(const std::filesystem::path& path, const RankClocks& clocks,
                   const std::atomic<bool>* stop, Queues& queues) {
  pthread_setname_np(pthread_self(), "stall-causes");
  TRACEDB_ASSIGN(db, SqliteDb::Open(path, SqliteMode::kReadOnly));
  constexpr int kBusyWaitMs = 60'000;  // as the calling thread's connection waits
  db.SetBusyTimeout(kBusyWaitMs, stop);
  if (stop != nullptr) db.StopWhen(*stop);
  TRACEDB_ASSIGN(finder, CauseFinder::Open(db, clocks));
  while (auto batch = queues.stalls.Pop()) {
    TRACEDB_TRY(FindAll(finder, *batch));
    if (!queues.found.Push(std::move(*batch))) break;
  }
  return Done{};
}

}  // namespace

Status FindCausesOf(SqliteDb& db, const RankClocks& clocks, const CauseThreads& threads,
                    const std::function<Result<StallBatch>()>& next,
                    const std::function<Status(StallBatch&)>& take) {
  if (threads.count <= 1) {
    TRACEDB_ASSIGN(finder, CauseFinder::Open(db, clocks));
    for (;;) {
      TRACEDB_ASSIGN(batch, next());
      if (batch.empty()) return Done{};
      TRACEDB_TRY(FindAll(finder, batch));
      TRACEDB_TRY(take(batch));
    }
  }
  // No more batches are on their way than fit in either queue: nobody waits for somebody who waits.
  const size_t most = 2 * threads.count;
  Queues queues(most);
  std::vector<Status> ended(threads.count, Done{});
  std::vector<std::jthread> finding;
  const Status handed = RunCaught([&]() -> Status {
    for (Status& end : ended) {
      finding.emplace_back([&] {
        end = RunCaught([&] { return FindBatches(db.path(), clocks, threads.stop, queues); });
        if (!end.ok()) queues.Close();
      });
    }
    bool any_left = true;
    for (size_t on_way = 0;;) {
      while (any_left && on_way < most) {
        TRACEDB_ASSIGN(batch, next());
        any_left = !batch.empty();
        if (!any_left) break;
        if (!queues.stalls.Push(std::move(batch))) return Done{};
        ++on_way;
      }
      if (on_way == 0) return Done{};
      auto found = queues.found.Pop();
      if (!found.has_value()) return Done{};
      --on_way;
      TRACEDB_TRY(take(*found));
    }
  });
  queues.Close();
  finding.clear();
  for (const Status& end : ended) TRACEDB_TRY(end);
  return handed;
}

}  // namespace tracedb
