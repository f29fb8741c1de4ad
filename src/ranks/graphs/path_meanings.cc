#include "ranks/graphs/path_meanings.h"

#include <algorithm>
#include <charconv>
#include <functional>
#include <string_view>
#include <utility>

namespace tracedb {
namespace {

constexpr size_t kPiecesMax = 4096;  // a damaged database may have a path that leads to itself

uint64_t Mixed(uint64_t sum, uint64_t value) {
  sum = (sum ^ value) * 0x9e3779b97f4a7c15u;
  return sum ^ sum >> 29;
}

// The number that follows `word`; 0: none does.
int64_t NumberAfter(std::string_view name, std::string_view word) {
  const size_t at = name.find(word);
  if (at == name.npos) return 0;
  int64_t number = 0;
  const char* const first = name.data() + at + word.size();
  const auto read = std::from_chars(first, name.data() + name.size(), number);
  return read.ec == std::errc() && number > 0 ? number : 0;
}

}  // namespace

int64_t BatchInName(std::string_view name) {
  if (name.starts_with("execute_")) {
    const bool decodes = name.find("_context_0(") != name.npos;
    return decodes ? NumberAfter(name, "_generation_") : 0;
  }
  if (name.starts_with("capture_")) return NumberAfter(name, "capture_");
  if (name.starts_with("bs_")) return NumberAfter(name, "bs_");
  if (name.starts_with("step[")) return NumberAfter(name, "bs=");
  return 0;
}

PathMeanings::PathMeanings(SqliteStatement read, SqliteStatement name, SqliteStatement args,
                           size_t entries_max)
    : read_(std::move(read)),
      name_(std::move(name)),
      args_(std::move(args)),
      entries_max_(entries_max) {
  Clear();
}

Result<PathMeanings> PathMeanings::Open(SqliteDb& db, size_t bytes_max) {
  TRACEDB_ASSIGN(read, db.Prepare("SELECT id, parent_id, kind, event_name, args_text "
                                  "FROM _call_path WHERE id <= ?1 ORDER BY id DESC"));
  TRACEDB_ASSIGN(name, db.Prepare("SELECT name FROM _event_name WHERE id = ?1"));
  TRACEDB_ASSIGN(args, db.Prepare("SELECT args FROM _args_text WHERE id = ?1"));
  return PathMeanings(std::move(read), std::move(name), std::move(args),
                      std::max<size_t>(bytes_max / kBytesEach, kPiecesMax));
}

void PathMeanings::Clear() {
  ++generation_;
  entries_.assign(1, {});
  buckets_.assign(1024, 0);
  texts_.clear();
  hashes_.clear();
  names_.clear();
  name_count_ = 1;
}

size_t PathMeanings::BucketOf(int64_t path_id) const {
  const size_t mask = buckets_.size() - 1;
  size_t at = (static_cast<uint64_t>(path_id) * 0x9e3779b97f4a7c15u >> 20) & mask;
  while (buckets_[at] != 0 && entries_[buckets_[at]].id != path_id) at = (at + 1) & mask;
  return at;
}

void PathMeanings::Grow() {
  buckets_.assign(buckets_.size() * 2, 0);
  for (PathPlace place = 1; place < entries_.size(); ++place) {
    buckets_[BucketOf(entries_[place].id)] = place;
  }
}

Result<PathMeanings::Name*> PathMeanings::NameOf(int64_t event_name) {
  if (const auto at = texts_.find(event_name); at != texts_.end()) return &at->second;
  TRACEDB_TRY(name_.Bind(1, event_name));
  TRACEDB_ASSIGN(any, name_.Step());
  const std::string_view text = any ? name_.Text(0) : std::string_view();
  const Name name{std::hash<std::string_view>()(text), BatchInName(text), {}};
  name_.Reset();
  return &(texts_[event_name] = name);
}

Result<uint64_t> PathMeanings::ArgsHashOf(int64_t args_text) {
  if (const auto at = hashes_.find(args_text); at != hashes_.end()) return at->second;
  std::string_view text;
  if (args_text != 0) {
    TRACEDB_TRY(args_.Bind(1, args_text));
    TRACEDB_ASSIGN(any, args_.Step());
    if (any) text = args_.Text(0);
  }
  const uint64_t hash = std::hash<std::string_view>()(text);
  args_.Reset();
  return hashes_[args_text] = hash;
}

// A path is often numbered right after the one above it: a few rows are passed over before the next
// is looked for anew.
Result<int64_t> PathMeanings::ReadUpwards(int64_t path_id) {
  constexpr int64_t kPassedMax = 3;
  int64_t last_id = 0;  // where the statement stands; 0: nowhere
  while (path_id > 0 && unknown_.size() < kPiecesMax && buckets_[BucketOf(path_id)] == 0) {
    const bool is_near = path_id < last_id && path_id >= last_id - kPassedMax;
    if (!is_near) {
      read_.Reset();
      TRACEDB_TRY(read_.Bind(1, path_id));
    }
    do {
      TRACEDB_ASSIGN(any, read_.Step());
      last_id = any ? read_.Int(0) : 0;
    } while (last_id > path_id);
    if (last_id != path_id) break;  // a damaged database: there is no such path
    PathEntry entry;
    entry.id = path_id;
    path_id = read_.Int(1);
    entry.kind = static_cast<HostKind>(
        std::clamp<int64_t>(read_.Int(2), 0, static_cast<int64_t>(kHostKinds) - 1));
    entry.event_name = read_.Int(3);
    entry.args_text = read_.Int(4);
    unknown_.push_back(entry);
  }
  read_.Reset();
  return path_id;
}

Status PathMeanings::Append(PathEntry entry, PathPlace parent) {
  const PathEntry& above = entries_[parent];
  TRACEDB_ASSIGN(name, NameOf(entry.event_name));
  const uint64_t hash = Mixed(name->hash, static_cast<uint64_t>(entry.kind) + 1);
  uint32_t& number = name->numbers[static_cast<size_t>(entry.kind)];
  if (number == 0) {
    const auto [at, is_new] = names_.try_emplace(hash, static_cast<uint32_t>(name_count_));
    if (is_new) ++name_count_;
    number = at->second;
  }
  entry.name = number;
  entry.parent = parent;
  entry.batch = entry.kind == HostKind::kAnnotation && name->batch != 0 ? name->batch : above.batch;
  entry.op = entry.kind == HostKind::kOperator ? entry.event_name : above.op;
  entry.meaning = parent != 0 ? above.meaning : 1;
  if (entry.kind == HostKind::kOperator || entry.kind == HostKind::kModule) {
    TRACEDB_ASSIGN(args, ArgsHashOf(entry.args_text));
    entry.meaning = Mixed(entry.meaning, Mixed(hash, args));
  }
  buckets_[BucketOf(entry.id)] = static_cast<PathPlace>(entries_.size());
  entries_.push_back(entry);
  if (entries_.size() * 2 > buckets_.size()) Grow();
  return Done{};
}

// What is above it first, so that an entry is worked out from its parent's alone.
Result<PathPlace> PathMeanings::FindOne(int64_t path_id) {
  PathPlace known = buckets_[BucketOf(path_id)];
  if (known != 0 || path_id == 0) return known;
  unknown_.clear();
  TRACEDB_ASSIGN(above, ReadUpwards(path_id));
  known = buckets_[BucketOf(above)];
  while (!unknown_.empty()) {
    const PathEntry entry = unknown_.back();
    unknown_.pop_back();
    // A path that leads to itself is cut where it came to be read again.
    if (const PathPlace again = buckets_[BucketOf(entry.id)]; again != 0) {
      known = again;
      continue;
    }
    TRACEDB_TRY(Append(entry, known));
    known = static_cast<PathPlace>(entries_.size() - 1);
  }
  return known;
}

Status PathMeanings::Find(std::span<const int64_t> path_ids, std::span<PathPlace> places) {
  if (entries_.size() > entries_max_) Clear();
  for (size_t i = 0; i < path_ids.size(); ++i) {
    TRACEDB_ASSIGN(place, FindOne(path_ids[i]));
    places[i] = place;
  }
  return Done{};
}

Result<uint64_t> PathMeanings::MeaningOf(int64_t path_id) {
  PathPlace place = 0;
  TRACEDB_TRY(Find({&path_id, 1}, {&place, 1}));
  return entries_[place].meaning;
}

Result<int64_t> PathMeanings::BatchOf(int64_t path_id) {
  PathPlace place = 0;
  TRACEDB_TRY(Find({&path_id, 1}, {&place, 1}));
  return entries_[place].batch;
}

}  // namespace tracedb
