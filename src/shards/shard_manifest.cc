#include "shards/shard_manifest.h"

#include <fmt/format.h>

#include <algorithm>

#include "tracedb/base/file_bytes.h"
#include "tracedb/base/sqlite_db.h"
#include "tracedb/json/json_text.h"
#include "tracedb/schema/database_id.h"

namespace tracedb {
namespace {

constexpr size_t kManifestBytesMax = 1 << 20;
constexpr int64_t kFilesMax = 64;
constexpr int64_t kNumberMax = int64_t{1} << 50;
constexpr std::string_view kFormat = "tracedb shard 2";

Error NotWhole(const std::filesystem::path& path, const std::string& what) {
  return Error{ErrorKind::kInput, path.string() + ": " + what,
               "run tracedb ingest --shard for that rank again"};
}

// A name of a file in the shard's own folder.
bool IsPlainName(const std::string& name) {
  constexpr std::string_view kPlain = "abcdefghijklmnopqrstuvwxyz_.";
  return !name.empty() && name.size() < 64 && name.front() != '.' &&
         name.find_first_not_of(kPlain) == std::string::npos;
}

}  // namespace

std::string ManifestText(const ShardManifest& manifest) {
  std::string files, left_out;
  for (const ShardManifest::File& file : manifest.files) {
    files += fmt::format("{}\n  {{\"name\":{},\"bytes\":{},\"xxh3\":{}}}", files.empty() ? "" : ",",
                         JsonString(file.name), file.bytes, JsonString(file.hash));
  }
  for (const std::string& table : manifest.left_out) {
    left_out += (left_out.empty() ? "" : ",") + JsonString(table);
  }
  return fmt::format(
      "{{\"format\":{},\"schema\":{},\n \"run\":{},\"rank\":{},\"world_size\":{},\n "
      "\"host\":{},\"database\":{},\n \"json_bytes\":{},\n \"left_out\":[{}],\n "
      "\"files\":[{}]}}\n",
      JsonString(kFormat), kSchemaVersion, JsonString(manifest.run), manifest.rank,
      manifest.world_size.has_value() ? std::to_string(*manifest.world_size) : "null",
      JsonString(manifest.host), JsonString(manifest.database), manifest.text_bytes, left_out,
      files);
}

Result<ShardManifest> ReadManifest(const std::filesystem::path& path) {
  std::error_code error;
  if (!std::filesystem::is_regular_file(path, error)) return NotWhole(path, "is not there");
  const std::optional<std::string> read = ReadFileStart(path, kManifestBytesMax + 1);
  if (!read.has_value()) return NotWhole(path, "cannot be read");
  const std::string& text = *read;
  if (text.size() > kManifestBytesMax) return NotWhole(path, "is too long");
  TRACEDB_ASSIGN(db, SqliteDb::OpenInMemory());
  TRACEDB_ASSIGN(valid, db.Prepare("SELECT json_valid(?1)"));
  TRACEDB_TRY(valid.Bind(1, std::string_view(text)));
  TRACEDB_ASSIGN(any, valid.Step());
  if (!any || valid.Int(0) != 1) return NotWhole(path, "is not JSON, or cut short");
  TRACEDB_ASSIGN(row,
                 db.Prepare("SELECT json_extract(?1, '$.format'), json_extract(?1, '$.schema'), "
                            "json_extract(?1, '$.run'), json_extract(?1, '$.rank'), "
                            "json_extract(?1, '$.world_size'), json_extract(?1, '$.host'), "
                            "json_extract(?1, '$.database'), json_extract(?1, '$.json_bytes')"));
  TRACEDB_TRY(row.Bind(1, std::string_view(text)));
  TRACEDB_ASSIGN(found, row.Step());
  if (found && row.Text(0) == "tracedb shard 1") {
    return NotWhole(path, "is of an older tracedb, which left less");
  }
  if (!found || row.Text(0) != kFormat) return NotWhole(path, "is no manifest of this tracedb");
  if (row.Int(1) != kSchemaVersion) {
    return NotWhole(path, fmt::format("its tables are those of another tracedb (schema {}; this "
                                      "one has {})",
                                      row.Int(1), kSchemaVersion));
  }
  const auto is_number = [&](int column) {
    return row.Type(column) == SqlType::kInteger && row.Int(column) >= 0 &&
           row.Int(column) <= kNumberMax;
  };
  ShardManifest manifest;
  const bool fits = row.Type(2) == SqlType::kText && is_number(3) && is_number(7) &&
                    (row.Type(4) == SqlType::kNull || is_number(4));
  if (!fits) return NotWhole(path, "does not say of which run and rank it is");
  manifest.run = row.Text(2);
  manifest.rank = row.Int(3);
  manifest.world_size = row.OptionalInt(4);
  manifest.host = row.Text(5);
  manifest.database = row.Text(6);
  manifest.text_bytes = row.Int(7);
  TRACEDB_ASSIGN(left, db.Prepare("SELECT value FROM json_each(?1, '$.left_out') LIMIT 1000"));
  TRACEDB_TRY(left.Bind(1, std::string_view(text)));
  for (;;) {
    TRACEDB_ASSIGN(more, left.Step());
    if (!more) break;
    std::string name(left.Text(0));
    if (!IsPlainName(name)) return NotWhole(path, "names a table that cannot be");
    manifest.left_out.push_back(std::move(name));
  }
  TRACEDB_ASSIGN(files, db.Prepare("SELECT json_extract(value, '$.name'), "
                                   "json_extract(value, '$.bytes'), "
                                   "json_extract(value, '$.xxh3') "
                                   "FROM json_each(?1, '$.files') WHERE type = 'object' LIMIT ?2"));
  TRACEDB_TRY(files.Bind(1, std::string_view(text)));
  TRACEDB_TRY(files.Bind(2, kFilesMax));
  for (;;) {
    TRACEDB_ASSIGN(more, files.Step());
    if (!more) break;
    ShardManifest::File file{std::string(files.Text(0)), files.Int(1), std::string(files.Text(2))};
    if (!IsPlainName(file.name)) return NotWhole(path, "names a file that cannot be");
    manifest.files.push_back(std::move(file));
  }
  return manifest;
}

}  // namespace tracedb
