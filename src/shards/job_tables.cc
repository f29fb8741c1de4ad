#include "shards/job_tables.h"

#include <algorithm>
#include <array>

#include "shards/folder_landing.h"
#include "tracedb/base/folder_sync.h"
#include "tracedb/parquet/parquet_writer.h"

namespace tracedb {
namespace {

namespace fs = std::filesystem;

std::string FileOf(const char* table) { return std::string(table) + ".parquet"; }

constexpr const char* kPlaceColumns[] = {"from_trace_id", "first_row",  "last_row",    "first_text",
                                         "last_text",     "row_shift",  "text_shift",  "trace_id",
                                         "run_id",        "capture_id", "has_all_uses"};

Status WritePlaces(SqliteDb& db, const std::vector<FoundShard>& shards, const fs::path& out,
                   const fs::path& path) {
  std::vector<ParquetColumn> columns = {{"shard", ParquetType::kText}};
  for (const char* name : kPlaceColumns) columns.push_back({name, ParquetType::kInteger});
  columns.push_back({"text_hash", ParquetType::kText});
  TRACEDB_ASSIGN(writer, ParquetWriter::Create(path, std::move(columns)));
  TRACEDB_ASSIGN(
      placed,
      db.Prepare("SELECT run_id, capture_id, text_hash FROM main._trace WHERE trace_id = ?1"));
  for (const FoundShard& shard : shards) {
    const auto& left = shard.manifest.left_out;
    const bool has_all_uses = std::find(left.begin(), left.end(), "_host_use") == left.end();
    const std::string place = shard.folder.lexically_relative(out).generic_string();
    for (const SummaryTrace& trace : shard.traces) {
      if (trace.is_left_out) continue;
      placed.Reset();
      TRACEDB_TRY(placed.Bind(1, trace.trace_id));
      TRACEDB_ASSIGN(is_there, placed.Step());
      if (!is_there) continue;
      writer.Add(0, std::string_view(place));
      const int64_t values[] = {trace.from_id,    trace.first_row, trace.last_row,
                                trace.first_text, trace.last_text, trace.row_shift,
                                trace.text_shift, trace.trace_id};
      size_t column = 1;
      for (const int64_t value : values) writer.Add(column++, value);
      for (int i = 0; i < 2; ++i, ++column) {
        if (placed.Type(i) == SqlType::kNull) {
          writer.AddNull(column);
        } else {
          writer.Add(column, placed.Int(i));
        }
      }
      writer.Add(column++, int64_t{has_all_uses});
      writer.Add(column, placed.Text(2));
      TRACEDB_TRY(writer.EndRow());
    }
  }
  return writer.Finish();
}

// Its columns as they are declared, and the number of the row.
Status WriteJobTable(SqliteDb& db, const JobTable& table, const fs::path& path) {
  std::vector<ParquetColumn> columns = {{"row_id", ParquetType::kInteger}};
  std::string names = "rowid";
  TRACEDB_ASSIGN(declared, db.Prepare("SELECT name, type FROM pragma_table_info(?1)"));
  TRACEDB_TRY(declared.Bind(1, std::string_view(table.table)));
  for (;;) {
    TRACEDB_ASSIGN(row, declared.Step());
    if (!row) break;
    const bool is_text = declared.Text(1) == "TEXT";
    columns.push_back(
        {std::string(declared.Text(0)), is_text ? ParquetType::kText : ParquetType::kInteger});
    names += ", " + columns.back().name;
  }
  TRACEDB_ASSIGN(writer, ParquetWriter::Create(path, columns));
  TRACEDB_ASSIGN(rows,
                 db.Prepare("SELECT " + names + " FROM main." + table.table + " ORDER BY rowid"));
  for (;;) {
    TRACEDB_ASSIGN(row, rows.Step());
    if (!row) return writer.Finish();
    for (size_t i = 0; i < columns.size(); ++i) {
      const int at = static_cast<int>(i);
      const bool is_text = columns[i].type == ParquetType::kText;
      if (rows.Type(at) == SqlType::kNull || (!is_text && rows.Type(at) != SqlType::kInteger)) {
        writer.AddNull(i);
      } else if (is_text) {
        writer.Add(i, rows.Text(at));
      } else {
        writer.Add(i, rows.Int(at));
      }
    }
    TRACEDB_TRY(writer.EndRow());
  }
}

Status WriteAll(SqliteDb& db, const std::vector<FoundShard>& shards, const fs::path& out,
                const fs::path& made) {
  const fs::path folder = made / fs::path(kGatheredAll).filename();
  std::error_code error;
  if (!fs::create_directory(folder, error)) return FolderError(folder, "create");
  TRACEDB_TRY(WritePlaces(db, shards, out, folder / FileOf(kPlaceFile)));
  for (const JobTable& table : kJobTables) {
    TRACEDB_TRY(WriteJobTable(db, table, folder / FileOf(table.file)));
  }
  for (const SummaryTable& table : SummaryTables()) {
    TRACEDB_ASSIGN(writer, ParquetWriter::Create(folder / table.file, WidestColumns(table)));
    TRACEDB_TRY(writer.Finish());
  }
  return SyncFolderOf(folder / FileOf(kPlaceFile));
}

}  // namespace

Status WriteJobTables(SqliteDb& db, const std::vector<FoundShard>& shards, const fs::path& out) {
  const fs::path folder = out / kGatheredFolder;
  std::error_code error;
  if (fs::exists(fs::symlink_status(folder, error)) &&
      !fs::exists(out / kGatheredAll / FileOf(kPlaceFile), error)) {
    return Error{ErrorKind::kOutput, folder.string() + ": it is there, and was not made by gather",
                 "move it away"};
  }
  return LandFolder(folder, [&](const fs::path& made) { return WriteAll(db, shards, out, made); });
}

}  // namespace tracedb
