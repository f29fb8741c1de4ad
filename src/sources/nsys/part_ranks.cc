#include "sources/nsys/part_ranks.h"

#include <map>
#include <optional>
#include <set>
#include <string>

#include "sources/nsys/part_reading.h"

namespace tracedb {
namespace {

// Who of the export is in a communicator, by the part.
struct Members {
  std::map<size_t, int64_t> ranks;
  int64_t size = 0;
  bool agree = true;  // on its size, and that each has a rank of its own
};

// Fills the ranks that MPI tells; gives how many it tells.
Result<size_t> ReadMpiRanks(SqliteDb& db, const ExportTables& tables, uint64_t rows_max,
                            std::vector<NsysPart>& parts) {
  constexpr const char* kTable = "MPI_RANKS";
  constexpr size_t kRanksMax = 65536;  // more are not counted
  const bool by_thread = tables.Has(kTable, "globalTid");
  if (!tables.Has(kTable, "rank") || (!by_thread && !tables.Has(kTable, "globalPid"))) {
    return size_t{0};
  }
  std::map<int64_t, NsysPart*> by_process;
  for (NsysPart& part : parts) {
    if (part.has_pid) by_process.emplace(part.global_pid, &part);
  }
  std::set<int64_t> told;
  TRACEDB_ASSIGN(rows, db.Prepare(std::string("SELECT rank, ") +
                                  (by_thread ? "globalTid" : "globalPid") + " FROM " + kTable));
  for (uint64_t count = 0;; ++count) {
    TRACEDB_ASSIGN(row, StepRow(rows, count, rows_max));
    if (!row) break;
    const auto rank = IntIn(rows, 0);
    const auto process = IntIn(rows, 1);
    if (!rank.has_value() || *rank < 0 || !process.has_value()) continue;
    if (told.size() < kRanksMax) told.insert(*rank);
    const auto part = by_process.find(ProcessOf(*process));
    if (part != by_process.end()) part->second->rank = rank;
  }
  if (by_process.empty() && parts.size() == 1 && told.size() == 1) parts[0].rank = *told.begin();
  return told.size();
}

std::map<uint64_t, Members> MembersOf(const std::vector<NsysPart>& parts) {
  std::map<uint64_t, Members> all;
  for (size_t i = 0; i < parts.size(); ++i) {
    for (const NsysCommunicator& known : parts[i].communicators) {
      Members& members = all[known.id];
      if (members.ranks.empty()) members.size = known.size;
      if (members.size != known.size) members.agree = false;
      members.ranks.emplace(i, known.rank);
    }
  }
  for (auto& [id, members] : all) {
    std::set<int64_t> ranks;
    for (const auto& [part, rank] : members.ranks) {
      if (!ranks.insert(rank).second) members.agree = false;
    }
  }
  return all;
}

// Either all processes of the export are in it, or it has as many ranks as MPI; and MPI, where it
// tells a rank, tells the same.
bool IsWorld(const Members& members, const std::vector<NsysPart>& parts, size_t mpi_ranks) {
  if (!members.agree) return false;
  for (const auto& [part, rank] : members.ranks) {
    if (parts[part].rank.value_or(rank) != rank) return false;
  }
  return members.ranks.size() == parts.size() || static_cast<size_t>(members.size) == mpi_ranks;
}

}  // namespace

Status DecideRanks(SqliteDb& db, const ExportTables& tables, uint64_t rows_max,
                   std::optional<int64_t> rank_in_name, std::vector<NsysPart>& parts) {
  TRACEDB_ASSIGN(mpi_ranks, ReadMpiRanks(db, tables, rows_max, parts));
  const bool is_alone = parts.size() == 1 && !parts[0].rank.has_value();
  const std::map<uint64_t, Members> all = MembersOf(parts);
  std::optional<NsysCommunicator> world;
  for (const NsysPart& part : parts) {
    for (const NsysCommunicator& known : part.communicators) {  // as they began
      if (world.has_value() && known.size <= world->size) continue;
      if (is_alone && rank_in_name.value_or(known.rank) != known.rank) continue;
      if (IsWorld(all.at(known.id), parts, mpi_ranks)) world = known;
    }
  }
  if (!world.has_value()) return Done{};
  parts[0].rank_is_guess = is_alone && !rank_in_name.has_value() && world->size > 1;
  for (size_t i = 0; i < parts.size(); ++i) {
    const auto& ranks = all.at(world->id).ranks;
    const auto own = ranks.find(i);
    if (!parts[i].rank.has_value() && own != ranks.end()) parts[i].rank = own->second;
    parts[i].world = world->id;
    parts[i].world_size = world->size;
  }
  return Done{};
}

}  // namespace tracedb
