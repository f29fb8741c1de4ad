#include "text/input_files.h"

#include <string>
#include <system_error>

#include "tracedb/base/database_files.h"
#include "tracedb/base/file_bytes.h"
#include "tracedb/base/sqlite_db.h"
#include "tracedb/schema/database_id.h"

namespace tracedb {
namespace {

namespace fs = std::filesystem;

constexpr int kBusyTimeoutMs = 10'000;

// As shards/shard_manifest.cc and shards/job_tables.cc write them.
constexpr const char* kManifest = "manifest.json";
constexpr std::string_view kManifestBegins = R"({"format":"tracedb shard )";
constexpr const char* kJobTable = "job_place.parquet";

// The path is as it was given, in a folder that may not be the working one any more.
bool IsFileOf(const SqliteStatement& row, const fs::path& file) {
  const fs::path folder(row.Text(0));
  const std::string name = fs::path(row.Text(1)).filename().string();
  // Of an export in parts the name is followed by the part.
  return IsSameFile(folder / name, file) ||
         IsSameFile(folder / name.substr(0, name.rfind('#')), file);
}

}  // namespace

Result<bool> IsInputOf(const fs::path& database, const fs::path& file) {
  std::error_code code;
  if (!fs::is_regular_file(database, code) || !fs::exists(file, code)) return false;
  auto opened = SqliteDb::Open(database, SqliteMode::kReadOnly);
  if (!opened.ok()) return false;
  SqliteDb& db = opened.value();
  db.SetBusyTimeout(kBusyTimeoutMs);
  const auto id = db.Integer("PRAGMA application_id");
  if (!id.ok() || id.value() != kApplicationId) return false;
  for (const char* table : {"_trace", "_source"}) {
    auto rows = db.Prepare(std::string("SELECT folder, path FROM ") + table + " WHERE path <> '-'");
    if (!rows.ok()) continue;  // of another version, which no command reads
    for (;;) {
      TRACEDB_ASSIGN(any, rows.value().Step());
      if (!any) break;
      if (IsFileOf(rows.value(), file)) return true;
    }
  }
  return false;
}

bool IsOfSummary(const fs::path& file) {
  if (file.extension() != ".parquet" && file.filename() != kManifest) return false;
  const fs::path folder = file.has_parent_path() ? file.parent_path() : fs::path(".");
  std::error_code code;
  if (fs::is_regular_file(folder / kJobTable, code)) return true;
  if (!fs::is_regular_file(folder / kManifest, code)) return false;
  return ReadFileStart(folder / kManifest, kManifestBegins.size()) == kManifestBegins;
}

}  // namespace tracedb
