#include "shards/find_shards.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <optional>
#include <set>
#include <system_error>
#include <tuple>

#include "tracedb/base/folder_entries.h"
#include "tracedb/ingest/read/content_hash.h"
#include "tracedb/shards/summary_write.h"

namespace tracedb {
namespace {

namespace fs = std::filesystem;

constexpr size_t kShardsMax = 65536;
constexpr int64_t kNamedMax = 1000;  // ranks of a run that are missing; the rest is counted

struct Place {
  std::string run;
  int64_t rank = 0;
  fs::path folder;
};

std::optional<int64_t> RankOf(const std::string& folder) {
  const auto text = FromHiveName(folder, "rank");
  if (!text.has_value()) return std::nullopt;
  int64_t rank = 0;
  const auto [end, error] = std::from_chars(text->data(), text->data() + text->size(), rank);
  const bool is_rank = error == std::errc() && end == text->data() + text->size() && rank >= 0;
  return is_rank ? std::optional(rank) : std::nullopt;
}

Error Unread(const fs::path& folder, const std::error_code& error) {
  return {ErrorKind::kInput, folder.string() + ": cannot read the folder: " + error.message(),
          "check that it may be read, then gather again"};
}

bool IsStopped(const GatherOptions& options) {
  return options.stop != nullptr && options.stop->load();
}

Error Stopped() { return {ErrorKind::kInput, "stopped; nothing was written", ""}; }

Result<std::vector<Place>> FindPlaces(const GatherOptions& options) {
  const fs::path& out = options.folder;
  std::vector<Place> places;
  FolderEntries runs(out);
  if (runs.error()) {
    return Error{ErrorKind::kInput,
                 out.string() + ": cannot read the folder: " + runs.error().message(),
                 "name the folder that was given to tracedb ingest --shard"};
  }
  while (runs.Next()) {
    if (IsStopped(options)) return Stopped();
    const auto run = FromHiveName(runs.name(), "run");
    if (!run.has_value() || !runs.IsFolder()) continue;
    FolderEntries ranks(runs.path());
    while (ranks.Next()) {
      if (IsStopped(options)) return Stopped();
      const auto rank = RankOf(std::string(ranks.name()));
      if (rank.has_value()) places.push_back({*run, *rank, ranks.path()});
      if (places.size() > kShardsMax) {
        return Error{ErrorKind::kInput,
                     fmt::format("{}: more than {} summaries", out.string(), kShardsMax),
                     "gather the runs one by one, from folders of their own"};
      }
    }
    // Else its ranks would not even be missed.
    if (ranks.error()) return Unread(runs.path(), ranks.error());
  }
  if (runs.error()) return Unread(out, runs.error());
  std::sort(places.begin(), places.end(), [](const Place& a, const Place& b) {
    return std::tie(a.run, a.rank) < std::tie(b.run, b.rank);
  });
  if (!places.empty()) return places;
  return Error{ErrorKind::kNoTrace, out.string() + ": no summary of a rank is in it",
               "make them with: tracedb ingest --shard " + out.string() + " TRACE..."};
}

// Slices are read in pieces, each of which has a checksum: their files are not read here.
bool IsReadInPieces(const std::string& file) { return file.ends_with("_slice.parquet"); }

Result<FoundShard> LookAt(const Place& place, const std::atomic<bool>* stop) {
  FoundShard shard;
  shard.folder = place.folder;
  TRACEDB_ASSIGN(manifest, ReadManifest(place.folder / kManifestName));
  shard.manifest = std::move(manifest);
  const auto bad = [&](const std::string& what) {
    return Error{ErrorKind::kInput, place.folder.string() + ": " + what,
                 "run tracedb ingest --shard for that rank again"};
  };
  if (shard.manifest.run != place.run || shard.manifest.rank != place.rank) {
    return bad("its manifest is that of another rank");
  }
  if (!shard.Has("trace.parquet")) return bad("it has no trace.parquet");
  for (const ShardManifest::File& file : shard.manifest.files) {
    const auto& tables = SummaryTables();
    const bool is_known = std::any_of(tables.begin(), tables.end(),
                                      [&](const SummaryTable& t) { return t.file == file.name; });
    if (!is_known) return bad("its manifest names " + file.name + ", which this tracedb knows not");
    const fs::path path = place.folder / file.name;
    std::error_code error;
    const auto bytes = fs::file_size(path, error);
    if (error) return bad(file.name + " is not there");
    if (static_cast<int64_t>(bytes) != file.bytes) {
      return bad(
          fmt::format("{} has {} bytes, and its manifest says {}", file.name, bytes, file.bytes));
    }
    if (IsReadInPieces(file.name)) continue;
    TRACEDB_ASSIGN(hash, HashFile(path, stop));
    if (hash != file.hash) return bad(file.name + " is not as it was written");
  }
  return shard;
}

}  // namespace

Result<FoundShards> FindShards(const GatherOptions& options) {
  TRACEDB_ASSIGN(places, FindPlaces(options));
  FoundShards found;
  for (size_t i = 0; i < places.size(); ++i) {
    if (IsStopped(options)) return Stopped();
    if (options.on_progress) options.on_progress("looking at summaries", i, places.size());
    auto shard = LookAt(places[i], options.stop);
    if (!shard.ok() && IsStopped(options)) return Stopped();
    if (shard.ok()) {
      found.whole.push_back(std::move(shard).value());
      continue;
    }
    found.broken.push_back({"shard_broken", fmt::format("rank {} of run {}: {}", places[i].rank,
                                                        places[i].run, shard.error().what)});
    found.broken_ranks[places[i].run].push_back(places[i].rank);
  }
  return found;
}

std::vector<ShardTrouble> MissingRanks(const FoundShards& found,
                                       const std::optional<std::string>& run) {
  struct World {
    int64_t size = 0;
    std::set<int64_t> ranks;
  };
  std::map<std::string, World> worlds;
  for (const FoundShard& shard : found.whole) {
    World& world = worlds[run.value_or(shard.manifest.run)];
    world.size = std::max(world.size, shard.manifest.world_size.value_or(0));
    world.ranks.insert(shard.manifest.rank);
  }
  for (const auto& [name, ranks] : found.broken_ranks) {
    worlds[run.value_or(name)].ranks.insert(ranks.begin(), ranks.end());
  }
  std::vector<ShardTrouble> missing;
  for (const auto& known : worlds) {
    const std::string& name = known.first;
    const World& world = known.second;
    // From gap to gap: the world may be said to have any size.
    int64_t next = 0;
    int64_t named = 0;
    int64_t more = 0;
    const auto gap = [&](int64_t until) {
      for (; next < until && named < kNamedMax; ++next, ++named) {
        missing.push_back(
            {"shard_missing", fmt::format("rank {} of run {}: no summary; its world has {} ranks",
                                          next, name, world.size)});
      }
      more += until - std::min(next, until);
    };
    for (const int64_t rank : world.ranks) {
      if (rank >= world.size) break;
      gap(rank);
      next = rank + 1;
    }
    gap(world.size);
    if (more > 0) {
      missing.push_back(
          {"shard_missing", fmt::format("{} more ranks of run {}: no summary", more, name), more});
    }
  }
  return missing;
}

}  // namespace tracedb
