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

// The number that stands behind `word`; 0: none does.
int64_t NumberBehind(std::string_view name, std::string_view word) {
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
    return decodes ? NumberBehind(name, "_generation_") : 0;
  }
  if (name.starts_with("capture_")) return NumberBehind(name, "capture_");
  if (name.starts_with("bs_")) return NumberBehind(name, "bs_");
  if (name.starts_with("step[")) return NumberBehind(name, "bs=");
  return 0;
}

Result<PathMeanings> PathMeanings::Open(SqliteDb& db, size_t bytes_max) {
  TRACEDB_ASSIGN(read,
                 db.Prepare("SELECT c.parent_id, c.kind, c.event_name, c.args_text, c.op, "
                            "  n.name, a.args "
                            "FROM _call_path c LEFT JOIN _event_name n ON n.id = c.event_name "
                            "LEFT JOIN _args_text a ON a.id = c.args_text WHERE c.id = ?1"));
  return PathMeanings(std::move(read), std::max<size_t>(bytes_max / kBytesEach, kPiecesMax));
}

// All but the meaning, which depends on what is above.
Result<PathMeanings::Known> PathMeanings::Read(int64_t path_id) {
  Known known;
  TRACEDB_TRY(read_.Bind(1, path_id));
  TRACEDB_ASSIGN(any, read_.Step());
  if (any) {
    PathEntry& piece = known.piece;
    piece.id = path_id;
    known.parent = read_.OptionalInt(0).value_or(0);
    piece.kind = static_cast<HostKind>(read_.Int(1));
    piece.event_name = read_.Int(2);
    piece.args_text = read_.OptionalInt(3).value_or(0);
    piece.op = read_.OptionalInt(4).value_or(0);
    const std::hash<std::string_view> hash;
    piece.name_hash = Mixed(hash(read_.Text(5)), static_cast<uint64_t>(piece.kind) + 1);
    piece.meaning = Mixed(piece.name_hash, hash(read_.Text(6)));
    if (piece.kind == HostKind::kAnnotation) known.batch = BatchInName(read_.Text(5));
  }
  read_.Reset();
  return known;
}

Result<const std::vector<PathEntry>*> PathMeanings::Of(int64_t path_id) {
  pieces_.clear();
  batch_ = 0;
  if (known_.size() > known_max_) known_.clear();
  for (int64_t at = path_id; at != 0 && pieces_.size() < kPiecesMax;) {
    auto found = known_.find(at);
    if (found == known_.end()) {
      TRACEDB_ASSIGN(known, Read(at));
      found = known_.emplace(at, known).first;
    }
    if (found->second.piece.id == 0) break;
    pieces_.push_back(found->second.piece);
    if (batch_ == 0) batch_ = found->second.batch;
    at = found->second.parent;
  }
  std::reverse(pieces_.begin(), pieces_.end());
  uint64_t meaning = 1;
  for (PathEntry& piece : pieces_) {
    const bool counts = piece.kind == HostKind::kOperator || piece.kind == HostKind::kModule;
    if (counts) meaning = Mixed(meaning, piece.meaning);
    piece.meaning = meaning;
  }
  return &pieces_;
}

Result<uint64_t> PathMeanings::MeaningOf(int64_t path_id) {
  TRACEDB_ASSIGN(pieces, Of(path_id));
  return pieces->empty() ? uint64_t{0} : pieces->back().meaning;
}

Result<int64_t> PathMeanings::BatchOf(int64_t path_id) {
  TRACEDB_TRY(Of(path_id));
  return batch_;
}

}  // namespace tracedb
