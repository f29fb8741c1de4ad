#include "report/lane_pieces.h"

#include <fmt/format.h>

#include <algorithm>
#include <tuple>

#include "report/report_result.h"
#include "tracedb/text/result_text.h"

namespace tracedb {

bool LaneState::operator<(const LaneState& other) const {
  return std::tie(kind, parallelism, rank, name) <
         std::tie(other.kind, other.parallelism, other.rank, other.name);
}

size_t LaneStates::Number(const LaneState& state) {
  const auto known = numbers_.find(state);
  if (known != numbers_.end()) return known->second;
  if (states_.size() >= kNamedMax && !state.name.empty()) {
    return Number({state.kind, state.parallelism, state.rank, ""});
  }
  numbers_.emplace(state, states_.size());
  states_.push_back(state);
  return states_.size() - 1;
}

std::string LaneStates::Json() const {
  std::string json;
  for (const LaneState& state : states_) {
    std::string entry = "{";
    AppendJsonField(entry, "kind", state.kind);
    if (!state.parallelism.empty()) AppendJsonField(entry, "parallelism", state.parallelism);
    if (state.rank.has_value()) entry += fmt::format(",\"rank\":{}", *state.rank);
    if (!state.name.empty()) AppendJsonField(entry, "name", ShownText(state.name.substr(0, 200)));
    json += (json.empty() ? "" : ",") + entry + "}";
  }
  return json;
}

int64_t PieceLength(int64_t first_ns, int64_t last_ns, int64_t pieces) {
  return std::max<int64_t>((last_ns - first_ns + pieces - 1) / pieces, 1);
}

LanePieces::LanePieces(int64_t first_ns, int64_t last_ns, int64_t pieces, LaneStates& states)
    : first_ns_(first_ns),
      last_ns_(last_ns),
      piece_ns_(PieceLength(first_ns, last_ns, pieces)),
      states_(states),
      pieces_(static_cast<size_t>(pieces)),
      at_ns_(first_ns) {}

void LanePieces::Add(const LaneState& state, int64_t from_ns, int64_t to_ns) {
  from_ns = std::max(from_ns, first_ns_);
  to_ns = std::min(to_ns, last_ns_);
  if (to_ns <= from_ns) return;
  const size_t number = states_.Number(state);
  while (from_ns < to_ns) {
    const auto place = static_cast<size_t>((from_ns - first_ns_) / piece_ns_);
    if (place >= pieces_.size()) return;
    const int64_t end_ns =
        std::min(to_ns, first_ns_ + (static_cast<int64_t>(place) + 1) * piece_ns_);
    Piece& piece = pieces_[place];
    const auto known = std::find_if(piece.begin(), piece.end(),
                                    [&](const auto& part) { return part.first == number; });
    if (known == piece.end()) {
      piece.emplace_back(number, end_ns - from_ns);
    } else {
      known->second += end_ns - from_ns;
    }
    from_ns = end_ns;
  }
}

void LanePieces::AddIdle(int64_t from_ns, int64_t to_ns) {
  if (!has_begun_) return Add({"before"}, from_ns, to_ns);
  const LaneGap* gap = nullptr;
  if (gaps_ != nullptr) {
    // Milliseconds were rounded on the way.
    const auto near = gaps_->lower_bound(from_ns - 2);
    if (near != gaps_->end() && near->first <= from_ns + 2) gap = &near->second;
  }
  if (gap == nullptr || !gap->is_known) return Add({"idle"}, from_ns, to_ns);
  const int64_t cut_ns = std::clamp(to_ns - gap->sync_ns, from_ns, to_ns);
  if (gap->is_host) {
    Add({"idle_host", "", {}, gap->host_name}, from_ns, cut_ns);
  } else {
    Add({"idle_dependency"}, from_ns, cut_ns);
  }
  Add({"idle_sync", "", {}, gap->sync_name}, cut_ns, to_ns);
}

void LanePieces::StartKernels(int64_t at_ns) {
  for (; next_ < coming_.size() && coming_[next_].start_ns <= at_ns; ++next_) {
    if (coming_[next_].end_ns > current_.end_ns) current_ = std::move(coming_[next_]);
  }
}

void LanePieces::AddCommunication(int64_t from_ns, int64_t to_ns) {
  while (from_ns < to_ns) {
    StartKernels(from_ns);
    int64_t end_ns = to_ns;
    if (next_ < coming_.size()) end_ns = std::min(end_ns, coming_[next_].start_ns);
    if (current_.end_ns <= from_ns) {
      Add({"comm", "other"}, from_ns, end_ns);
    } else if (from_ns < current_.wait_end_ns) {
      end_ns = std::min({end_ns, current_.wait_end_ns, current_.end_ns});
      Add({current_.is_schedule ? "schedule" : "wait", current_.parallelism, current_.root_rank,
           current_.root_name},
          from_ns, end_ns);
    } else {
      end_ns = std::min(end_ns, current_.end_ns);
      Add({"comm", current_.parallelism}, from_ns, end_ns);
    }
    from_ns = end_ns;
  }
}

void LanePieces::AddSegment(int64_t start_ns, int64_t dur_ns, int64_t kinds) {
  constexpr int64_t kCompute = 1;
  constexpr int64_t kCommunication = 2;
  const int64_t end_ns = start_ns + dur_ns;
  if (start_ns > at_ns_) AddIdle(at_ns_, start_ns);
  has_begun_ = true;
  start_ns = std::max(start_ns, at_ns_);
  if ((kinds & kCompute) != 0) {
    Add({"compute"}, start_ns, end_ns);
  } else if ((kinds & kCommunication) != 0) {
    AddCommunication(start_ns, end_ns);
  } else {
    Add({"memory"}, start_ns, end_ns);
  }
  at_ns_ = std::max(at_ns_, end_ns);
  // What has been looked at is not kept.
  StartKernels(at_ns_);
  coming_.erase(coming_.begin(), coming_.begin() + static_cast<std::ptrdiff_t>(next_));
  next_ = 0;
}

void LanePieces::End() {
  if (at_ns_ < last_ns_) Add({"before"}, at_ns_, last_ns_);
}

std::string LanePieces::Cells() const {
  std::vector<std::string> cells;
  for (const Piece& piece : pieces_) {
    std::string cell;
    size_t parts = 0;
    for (const auto& [state, ns] : piece) {
      const int64_t share = (2000 * ns + piece_ns_) / (2 * piece_ns_);
      if (share == 0) continue;
      cell += fmt::format(",{},{}", state, share);
      ++parts;
    }
    cells.push_back(fmt::format("{}{}", parts, cell));
  }
  std::string text;
  for (size_t from = 0; from < cells.size();) {
    size_t to = from;
    while (to < cells.size() && cells[to] == cells[from]) ++to;
    text += fmt::format("{}{},{}", text.empty() ? "" : ",", to - from, cells[from]);
    from = to;
  }
  return text;
}

}  // namespace tracedb
