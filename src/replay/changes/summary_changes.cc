#include "replay/changes/summary_changes.h"

#include <algorithm>
#include <string>

namespace tracedb {
namespace {

Status NotOfSummaries(SqliteDb& db, const std::string& what) {
  TRACEDB_ASSIGN(rows, db.Prepare("SELECT database, host, rank FROM main._shard ORDER BY rank "
                                  "LIMIT 1"));
  TRACEDB_ASSIGN(any, rows.Step());
  std::string place;  // SQLite passes on no more than the error's text
  if (any) {
    place = "; rank " + std::to_string(rows.Int(2)) + "'s is " + std::string(rows.Text(0)) +
            " on " + std::string(rows.Text(1));
    const auto is_control = [](char c) { return static_cast<unsigned char>(c) < ' ' || c == 0x7f; };
    std::ranges::replace_if(place, is_control, '?');
  }
  return NotUnderstood(what +
                       " cannot be told from summaries, which have collectives alone: rank_late, "
                       "transfers, waits of a parallelism, and names of collectives' kernels can; "
                       "the rest in the ranks' own databases" +
                       place);
}

std::string WordOf(const Change& change) {
  if (!change.ideal.empty()) return "ideal";
  if (change.slice.has_value()) return "slice";
  if (change.short_host.has_value()) return "short_host";
  if (change.recorder.has_value()) return "recorder";
  if (!change.held_by.empty()) return "held_by";
  if (!change.caller.empty()) return "caller";
  if (change.waits == "sync") return "waits: sync";
  if (change.launch_latency_ns.has_value()) return "launch_latency_ns";
  if (!change.balance.empty()) return "balance";
  if (change.kind.empty() || change.kind == "communication") return "";
  return "kind: " + change.kind;
}

}  // namespace

Status CheckOfSummaries(SqliteDb& db, const Change& change) {
  const std::string word = WordOf(change);
  if (word.empty()) return Done{};
  return NotOfSummaries(db, word);
}

Status CheckNamesOfSummaries(SqliteDb& db, const JobRows& rows,
                             const std::unordered_set<int64_t>& names) {
  std::unordered_set<int64_t> of_parts;
  for (const Activity& activity : rows.activities) {
    if (activity.kind == GpuKind::kCommunication) of_parts.insert(rows.NameOf(activity));
  }
  const bool is_there = std::ranges::any_of(names, [&](int64_t n) { return of_parts.contains(n); });
  if (!is_there) {
    TRACEDB_ASSIGN(captures, db.Integer("SELECT count(*) FROM _capture"));
    if (captures > 1) return Done{};  // of another it may be
    return NotOfSummaries(db, "what is no kernel of a collective");
  }
  TRACEDB_ASSIGN(kernels, db.Prepare("SELECT DISTINCT n.id, n.name FROM _kernel_use u "
                                     "JOIN _event_name n ON n.id = u.kernel"));
  for (;;) {
    TRACEDB_ASSIGN(any, kernels.Step());
    if (!any) return Done{};
    if (!names.contains(kernels.Int(0)) || of_parts.contains(kernels.Int(0))) continue;
    return NotOfSummaries(db, std::string(kernels.Text(1)));
  }
}

}  // namespace tracedb
