#include "replay/peers/late_peers.h"

#include "replay/peers/pipeline_places.h"

namespace tracedb {

Result<std::vector<std::pair<uint32_t, LatePeers>>> PeersOfLate(SqliteDb& db, const JobRows& rows,
                                                                const std::set<int64_t>& ranks) {
  std::vector<std::pair<uint32_t, LatePeers>> peers;
  TRACEDB_ASSIGN(places, PipelinePlaces(db, rows));
  bool has_messages = false;  // asked only where stages are not known
  if (places.empty()) {
    TRACEDB_ASSIGN(has_some, HasMessages(db, rows));
    has_messages = has_some;
  }
  for (uint32_t trace = 0; trace < rows.traces.size(); ++trace) {
    const int64_t rank = rows.traces[trace].rank;
    if (!ranks.contains(rank)) continue;
    const auto own = places.find(rank);
    std::vector<uint32_t> alike, others;
    for (uint32_t other = 0; other < rows.traces.size(); ++other) {
      if (rows.traces[other].rank == rank) continue;
      others.push_back(other);
      const auto place = places.find(rows.traces[other].rank);
      if (own != places.end() && place != places.end() && place->second == own->second) {
        alike.push_back(other);
      }
    }
    const bool is_staged = own != places.end() && !alike.empty();
    const bool do_the_same = places.empty() ? !has_messages : is_staged;
    peers.emplace_back(trace, LatePeers{is_staged ? alike : others, do_the_same});
  }
  return peers;
}

Result<std::map<uint32_t, std::vector<uint32_t>>> PeersOnTime(SqliteDb& db, const JobRows& rows,
                                                              const std::set<int64_t>& ranks) {
  std::map<uint32_t, std::vector<uint32_t>> on_time;
  TRACEDB_ASSIGN(all_peers, PeersOfLate(db, rows, ranks));
  for (auto& [trace, peers] : all_peers) {
    std::erase_if(peers.traces,
                  [&](uint32_t peer) { return ranks.contains(rows.traces[peer].rank); });
    if (peers.do_the_same && !peers.traces.empty()) on_time.emplace(trace, std::move(peers.traces));
  }
  return on_time;
}

}  // namespace tracedb
