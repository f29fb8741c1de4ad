#include "derive/graphs/graph_captures.h"

#include <algorithm>
#include <array>
#include <map>
#include <utility>

namespace tracedb {

GraphCaptures::Open* GraphCaptures::OpenOf(int64_t track) {
  const auto own = open_.find(track);
  if (own != open_.end()) return &own->second;
  return open_.size() == 1 ? &open_.begin()->second : nullptr;
}

// A body is part of the capture around it, if there is one.
Status GraphCaptures::Begin(const GraphRelatedCall& call) {
  const auto around = open_.find(call.track);
  const bool is_body = call.kind == GraphCall::kBody;
  if (is_body && around != open_.end()) {
    ++around->second.bodies;
  } else {
    if (around != open_.end()) {
      TRACEDB_TRY(Close(around->second));
      open_.erase(around);
    }
    if (open_.size() == kOpenMax) return Done{};
    open_[call.track].id = call.id;
    TRACEDB_TRY(captures_.Add({call.id, call.path}));
  }
  if (!is_body) return Done{};
  return launches_.Add(
      {call.id, open_[call.track].id, static_cast<int64_t>(call.kind), call.path, call.forward});
}

Status GraphCaptures::Take(const GraphRelatedCall& call) {
  switch (call.kind) {
    case GraphCall::kBegin:
    case GraphCall::kBody:
      return Begin(call);
    case GraphCall::kEnd: {
      const auto own = open_.find(call.track);
      if (own == open_.end()) return Done{};
      if (own->second.bodies > 0) {
        --own->second.bodies;
        return Done{};
      }
      TRACEDB_TRY(Close(own->second));
      open_.erase(own);
      return Done{};
    }
    case GraphCall::kNone:
      return Done{};
    default:
      break;
  }
  if (Open* open = OpenOf(call.track); open != nullptr) {
    const bool within = call.ts < open->busy_until;
    open->busy_until = std::max(open->busy_until, call.ts + call.dur);
    if (within) return Done{};  // the driver's call of the runtime's
    return launches_.Add(
        {call.id, open->id, static_cast<int64_t>(call.kind), call.path, call.forward});
  }
  if (call.kind != GraphCall::kReplay) return Done{};
  return replays_.Add({call.id, call.correlation, call.path, call.forward});
}

void GraphCaptures::Enter(int64_t track, uint32_t path) {
  const auto own = open_.find(track);
  if (own == open_.end() || !own->second.all_counted) return;
  const auto [at, is_new] = own->second.calls.try_emplace(path, 0);
  ++at->second;
  if (!is_new || ++counted_ <= counted_max_) return;
  counted_ -= own->second.calls.size();
  own->second.calls.clear();
  own->second.all_counted = false;
}

Status GraphCaptures::Close(Open& open) {
  const std::map<uint32_t, int64_t> sorted(open.calls.begin(), open.calls.end());
  for (const auto& [path, calls] : sorted) TRACEDB_TRY(paths_.Add({open.id, path, calls}));
  counted_ -= open.calls.size();
  open.calls.clear();
  return Done{};
}

Status GraphCaptures::Finish() {
  for (auto& [track, open] : open_) TRACEDB_TRY(Close(open));
  open_.clear();
  return Done{};
}

Status GraphCaptures::ForEachOperator(const OperatorOf& operator_of,
                                      const std::function<Status(const CalledPath&)>& take) const {
  std::map<std::pair<int64_t, int64_t>, CalledPath> calls;
  int64_t capture_id = 0;
  Status taken = Done{};
  const auto take_all = [&] {
    for (const auto& [key, called] : calls) {
      if (taken.ok()) taken = take(called);
    }
    calls.clear();
  };
  TRACEDB_TRY(paths_.ForEach([&](const CalledPath& row) {
    if (row.capture_id != capture_id) take_all();
    capture_id = row.capture_id;
    const auto key = operator_of(row.path);
    if (!key.has_value()) return;
    CalledPath& called =
        calls.try_emplace(*key, CalledPath{row.capture_id, row.path, 0}).first->second;
    called.calls += row.calls;
  }));
  take_all();
  return taken;
}

Status GraphCaptures::Store(SqliteDb& db, int64_t trace_id, int64_t first_path,
                            const OperatorOf& operator_of) const {
  PackedRows<CalledPath> operators(space_);
  TRACEDB_TRY(
      ForEachOperator(operator_of, [&](const CalledPath& row) { return operators.Add(row); }));
  // A path of 0 is none.
  const auto store = [&]<typename Row, typename Values>(const PackedRows<Row>& rows,
                                                        const char* sql, Values values) -> Status {
    if (rows.rows() == 0) return Done{};
    TRACEDB_ASSIGN(insert, db.Prepare(sql));
    Status stored = Done{};
    TRACEDB_TRY(rows.ForEach([&](const Row& row) {
      int parameter = 0;
      for (const int64_t value : values(row)) {
        if (stored.ok()) stored = insert.Bind(++parameter, value);
      }
      if (stored.ok()) stored = insert.Bind(++parameter, first_path - 1);
      if (stored.ok()) stored = insert.Bind(++parameter, trace_id);
      if (stored.ok()) stored = insert.Run();
    }));
    return stored;
  };
  TRACEDB_TRY(store(captures_,
                    "INSERT INTO _graph_capture (id, path_id, trace_id) "
                    "VALUES (?1, iif(?2 > 0, ?2 + ?3, NULL), ?4)",
                    [](const Capture& row) {
                      return std::array{row.id, row.path};
                    }));
  TRACEDB_TRY(store(launches_,
                    "INSERT INTO _captured_launch (id, capture_id, kind, path_id, "
                    "forward_path_id, trace_id) VALUES (?1, ?2, ?3, iif(?4 > 0, ?4 + ?6, NULL), "
                    "iif(?5 > 0, ?5 + ?6, NULL), ?7)",
                    [](const Launch& row) {
                      return std::array{row.id, row.capture_id, row.kind, row.path, row.forward};
                    }));
  TRACEDB_TRY(store(operators,
                    "INSERT INTO _captured_call (capture_id, path_id, calls, trace_id) "
                    "VALUES (?1, ?2 + ?4, ?3, ?5)",
                    [](const CalledPath& row) {
                      return std::array{row.capture_id, row.path, row.calls};
                    }));
  return store(replays_,
               "INSERT INTO _graph_launch (id, correlation, path_id, forward_path_id, trace_id) "
               "VALUES (?1, ?2, iif(?3 > 0, ?3 + ?5, NULL), iif(?4 > 0, ?4 + ?5, NULL), ?6)",
               [](const Replay& row) {
                 return std::array{row.id, row.correlation, row.path, row.forward};
               });
}

}  // namespace tracedb
