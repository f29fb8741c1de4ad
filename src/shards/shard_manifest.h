// manifest.json, the last file of a shard: with it the shard is whole.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "tracedb/base/result.h"

namespace tracedb {

inline constexpr const char* kManifestName = "manifest.json";

struct ShardManifest {
  struct File {
    std::string name;
    int64_t bytes = 0;
    std::string hash;  // XXH3-128
  };
  std::string run;  // as the rank's own database calls it
  int64_t rank = 0;
  std::optional<int64_t> world_size;
  std::string host;                   // on which the database is
  std::string database;               // its absolute path there
  int64_t text_bytes = 0;             // of the JSON
  std::vector<std::string> left_out;  // tables with rows that are not all in the summary
  std::vector<File> files;
};

std::string ManifestText(const ShardManifest& manifest);
// An error names the file: it is not there, is not ours, or of another version.
Result<ShardManifest> ReadManifest(const std::filesystem::path& path);

}  // namespace tracedb
