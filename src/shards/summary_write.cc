#include "tracedb/shards/summary_write.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <system_error>

#include "shards/folder_landing.h"
#include "shards/shard_manifest.h"
#include "shards/worked_out_tables.h"
#include "tracedb/ingest/read/content_hash.h"
#include "tracedb/parquet/parquet_writer.h"
#include "tracedb/shards/summary_tables.h"

namespace tracedb {
namespace {

namespace fs = std::filesystem;

constexpr int64_t kHostUsesMax = 20'000;  // of a trace: beyond, Python functions are left out

struct Trace {
  int64_t trace_id = 0;
  int64_t first_row = 0, last_row = 0, first_text = 0, last_text = 0;
  bool has_many_uses = false;
};

// What is written for one run and rank.
struct Shard {
  int64_t run_id = 0;
  ShardManifest manifest;
  std::vector<Trace> traces;
};

Result<std::vector<Shard>> FindShards(SqliteDb& db, const std::vector<int64_t>& trace_ids) {
  std::string ids;
  for (const int64_t id : trace_ids) ids += fmt::format("{}{}", ids.empty() ? "" : ",", id);
  TRACEDB_ASSIGN(rows,
                 db.Prepare("SELECT t.run_id, r.run, t.rank, t.trace_id, t.first_row, t.last_row, "
                            "t.first_text, t.last_text, t.world_size, t.text_bytes "
                            "FROM _trace t JOIN _run r ON r.run_id = t.run_id "
                            "WHERE (t.run_id, t.rank) IN (SELECT run_id, rank FROM _trace "
                            "WHERE trace_id IN (" +
                            ids +
                            ")) "
                            "ORDER BY t.run_id, t.rank, t.trace_id"));
  std::vector<Shard> shards;
  for (;;) {
    TRACEDB_ASSIGN(row, rows.Step());
    if (!row) return shards;
    const bool is_same = !shards.empty() && shards.back().run_id == rows.Int(0) &&
                         shards.back().manifest.rank == rows.Int(2);
    if (!is_same) {
      Shard& made = shards.emplace_back();
      made.run_id = rows.Int(0);
      made.manifest.run = rows.Text(1);
      made.manifest.rank = rows.Int(2);
    }
    Shard& shard = shards.back();
    shard.traces.push_back(
        {rows.Int(3), rows.Int(4), rows.Int(5), rows.Int(6), rows.Int(7), false});
    if (rows.Type(8) != SqlType::kNull) shard.manifest.world_size = rows.Int(8);
    shard.manifest.text_bytes += rows.Int(9);
  }
}

// Tables whose rows are not all in a summary, and that have some.
Result<std::vector<std::string>> LeftOutTables(SqliteDb& db) {
  std::vector<std::string> tables, left;
  {
    TRACEDB_ASSIGN(rows, db.Prepare("SELECT name FROM sqlite_schema WHERE type = 'table' AND name "
                                    "GLOB '_*' AND name NOT GLOB 'sqlite*' AND substr(name, 1, 1) "
                                    "= '_' ORDER BY name"));
    for (;;) {
      TRACEDB_ASSIGN(row, rows.Step());
      if (!row) break;
      if (!IsWholeInSummary(rows.Text(0))) tables.emplace_back(rows.Text(0));
    }
  }
  for (const std::string& table : tables) {
    TRACEDB_ASSIGN(any, db.Integer("SELECT EXISTS (SELECT 1 FROM " + table + ")"));
    if (any != 0) left.push_back(table);
  }
  return left;
}

// A column of integers may have other values where a trace has odd ones: these are in a column of
// their own beside, NAME.text or NAME.real, that only such a file has.
struct OddColumn {
  size_t of = 0;
  SqlType type = SqlType::kText;
};

class TableWriting {
 public:
  TableWriting(SqliteDb& db, const SummaryTable& table, const Shard& shard)
      : db_(db), table_(table), shard_(shard) {}

  // False: it has no rows, and there is no file.
  Result<bool> Write(const fs::path& path) {
    std::vector<ParquetColumn> columns;
    for (const SummaryColumn& column : table_.columns) columns.push_back(column.column);
    TRACEDB_TRY(FindOdd());
    for (const OddColumn& odd : odd_) {
      const std::string& name = table_.columns[odd.of].column.name;
      columns.push_back(odd.type == SqlType::kText
                            ? ParquetColumn{name + ".text", ParquetType::kText}
                            : ParquetColumn{name + ".real", ParquetType::kReal});
    }
    TRACEDB_ASSIGN(writer, ParquetWriter::Create(path, std::move(columns)));
    for (const Trace& trace : shard_.traces) TRACEDB_TRY(WriteTrace(trace, writer));
    TRACEDB_TRY(writer.Finish());
    if (writer.rows() == 0) unlink(path.c_str());
    file_.bytes = writer.bytes();
    return writer.rows() > 0;
  }

  const ShardManifest::File& file() const { return file_; }

 private:
  Result<SqliteStatement> Select(const Trace& trace, const std::string& expressions) {
    std::string from = table_.from;
    if (table_.file == "host_use.parquet" && trace.has_many_uses) from += " AND kind IS NOT 2";
    TRACEDB_ASSIGN(rows, db_.Prepare("SELECT " + expressions + " FROM " + from));
    const int64_t values[] = {trace.trace_id, trace.first_row, trace.last_row, trace.first_text,
                              trace.last_text};
    for (int i = 1; i <= rows.ParameterCount(); ++i) TRACEDB_TRY(rows.Bind(i, values[i - 1]));
    return rows;
  }

  Status FindOdd() {
    std::vector<std::pair<bool, bool>> found(table_.columns.size());
    for (const Trace& trace : shard_.traces) {
      TRACEDB_ASSIGN(rows, Select(trace, table_.expressions));
      for (;;) {
        TRACEDB_ASSIGN(row, rows.Step());
        if (!row) break;
        for (size_t i = 0; i < table_.columns.size(); ++i) {
          if (table_.columns[i].column.type == ParquetType::kText) continue;
          const SqlType type = rows.Type(static_cast<int>(i));
          found[i].first = found[i].first || type == SqlType::kText || type == SqlType::kBlob;
          found[i].second =
              found[i].second ||
              (type == SqlType::kReal && table_.columns[i].column.type == ParquetType::kInteger);
        }
      }
    }
    for (size_t i = 0; i < found.size(); ++i) {
      if (found[i].first) odd_.push_back({i, SqlType::kText});
      if (found[i].second) odd_.push_back({i, SqlType::kReal});
    }
    return Done{};
  }

  Status WriteTrace(const Trace& trace, ParquetWriter& writer) {
    TRACEDB_ASSIGN(rows, Select(trace, table_.expressions));
    for (;;) {
      TRACEDB_ASSIGN(row, rows.Step());
      if (!row) return Done{};
      for (size_t i = 0; i < table_.columns.size(); ++i) AddValue(rows, i, writer);
      for (size_t i = 0; i < odd_.size(); ++i) AddOdd(rows, i, writer);
      TRACEDB_TRY(writer.EndRow());
    }
  }

  void AddValue(const SqliteStatement& rows, size_t at, ParquetWriter& writer) {
    const int column = static_cast<int>(at);
    const SqlType type = rows.Type(column);
    switch (table_.columns[at].column.type) {
      case ParquetType::kText:
      case ParquetType::kBytes:
        if (type == SqlType::kNull) return writer.AddNull(at);
        return writer.Add(at, rows.Text(column));
      case ParquetType::kReal:
        if (type == SqlType::kReal || type == SqlType::kInteger) {
          return writer.Add(at, rows.Real(column));
        }
        return writer.AddNull(at);
      case ParquetType::kInteger:
        if (type == SqlType::kInteger) return writer.Add(at, rows.Int(column));
        return writer.AddNull(at);
    }
  }

  void AddOdd(const SqliteStatement& rows, size_t number, ParquetWriter& writer) {
    const OddColumn& odd = odd_[number];
    const size_t at = table_.columns.size() + number;
    const int column = static_cast<int>(odd.of);
    const SqlType type = rows.Type(column);
    if (odd.type == SqlType::kReal) {
      return type == SqlType::kReal ? writer.Add(at, rows.Real(column)) : writer.AddNull(at);
    }
    const bool is_text = type == SqlType::kText || type == SqlType::kBlob;
    return is_text ? writer.Add(at, rows.Text(column)) : writer.AddNull(at);
  }

  SqliteDb& db_;
  const SummaryTable& table_;
  const Shard& shard_;
  std::vector<OddColumn> odd_;
  ShardManifest::File file_;
};

Status WriteText(const fs::path& path, std::string_view text) {
  const int file = open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
  if (file < 0) return FolderError(path, "create");
  bool is_done = true;
  while (is_done && !text.empty()) {
    const ssize_t got = write(file, text.data(), text.size());
    is_done = got > 0;
    if (is_done) text.remove_prefix(static_cast<size_t>(got));
  }
  is_done = is_done && fsync(file) == 0;
  const int why = errno;
  close(file);
  errno = why;
  return is_done ? Status(Done{}) : FolderError(path, "write");
}

// The texts that the trace's rows in the summary refer to.
Status FindTexts(SqliteDb& db, Trace& trace) {
  for (const std::string& sql : UsedTextsSql()) {
    TRACEDB_ASSIGN(fill, db.Prepare(sql));
    if (fill.ParameterCount() > 0) TRACEDB_TRY(fill.Bind(1, trace.trace_id));
    TRACEDB_TRY(fill.Run());
  }
  TRACEDB_ASSIGN(uses, db.Integer("SELECT count(*) FROM _host_use WHERE trace_id = " +
                                  std::to_string(trace.trace_id)));
  trace.has_many_uses = uses > kHostUsesMax;
  return Done{};
}

Status WriteFiles(SqliteDb& db, Shard& shard, const fs::path& folder,
                  const std::atomic<bool>& stop) {
  TRACEDB_TRY(
      db.Execute("CREATE TEMP TABLE IF NOT EXISTS used_text (id INTEGER PRIMARY KEY);"
                 "CREATE TEMP TABLE IF NOT EXISTS used_args (id INTEGER PRIMARY KEY);"
                 "DELETE FROM temp.used_text; DELETE FROM temp.used_args"));
  TRACEDB_TRY(ClearWorkedOutTables(db));
  for (Trace& trace : shard.traces) {
    TRACEDB_TRY(WorkOutTables(db, trace.trace_id, trace.first_row, trace.last_row));
    TRACEDB_TRY(FindTexts(db, trace));
  }
  for (const SummaryTable& table : SummaryTables()) {
    if (stop.load()) return Error{ErrorKind::kInput, "interrupted", ""};
    const fs::path path = folder / table.file;
    TableWriting writing(db, table, shard);
    TRACEDB_ASSIGN(any, writing.Write(path));
    if (!any) continue;
    TRACEDB_ASSIGN(hash, HashFile(path));
    shard.manifest.files.push_back({table.file, writing.file().bytes, hash});
  }
  for (const Trace& trace : shard.traces) {
    if (!trace.has_many_uses) continue;
    shard.manifest.left_out.emplace_back("_host_use");
    break;
  }
  return WriteText(folder / kManifestName, ManifestText(shard.manifest));
}

Result<WrittenSummary> WriteShard(SqliteDb& db, Shard& shard, const fs::path& out,
                                  const std::atomic<bool>& stop) {
  const fs::path run = out / ("run=" + HiveName(shard.manifest.run));
  const fs::path folder = run / ("rank=" + std::to_string(shard.manifest.rank));
  std::error_code error;
  fs::create_directories(run, error);
  if (error) {
    return Error{ErrorKind::kOutput, run.string() + ": cannot create: " + error.message(),
                 kPlaceAdvice};
  }
  TRACEDB_TRY(
      LandFolder(folder, [&](const fs::path& made) { return WriteFiles(db, shard, made, stop); }));
  WrittenSummary summary{shard.manifest.run, shard.manifest.rank, folder, 0,
                         shard.manifest.text_bytes};
  for (const ShardManifest::File& file : shard.manifest.files) summary.bytes += file.bytes;
  return summary;
}

// The statements are ours: one that fails has met values that no ingest writes.
Error DamagedFor(const ShardManifest& manifest, const Error& error) {
  return Error{ErrorKind::kOutput,
               fmt::format("{}: rank {} of run {} cannot be summarised: {}", manifest.database,
                           manifest.rank, manifest.run, error.what),
               kDamagedAdvice};
}

}  // namespace

Result<std::vector<WrittenSummary>> WriteSummaries(SqliteDb& db,
                                                   const std::vector<int64_t>& trace_ids,
                                                   const SummaryPlace& place,
                                                   const std::atomic<bool>& stop) {
  TRACEDB_ASSIGN(shards, FindShards(db, trace_ids));
  TRACEDB_ASSIGN(left_out, LeftOutTables(db));
  std::vector<WrittenSummary> written;
  for (Shard& shard : shards) {
    shard.manifest.left_out = left_out;
    shard.manifest.host = place.host;
    shard.manifest.database = place.database;
    if (!shard.manifest.world_size.has_value()) shard.manifest.world_size = place.world_size;
    auto summary = WriteShard(db, shard, place.folder, stop);
    if (!summary.ok() && summary.error().kind == ErrorKind::kQuery && !stop.load()) {
      return DamagedFor(shard.manifest, summary.error());
    }
    TRACEDB_TRY(summary);
    written.push_back(std::move(summary).value());
  }
  return written;
}

std::string HiveName(std::string_view name) {
  constexpr std::string_view kPlain =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-+,@";
  std::string text;
  for (size_t i = 0; i < name.size(); ++i) {
    const bool is_plain = kPlain.find(name[i]) != kPlain.npos || (name[i] == '.' && i > 0);
    if (is_plain) {
      text += name[i];
    } else {
      text += fmt::format("%{:02X}", static_cast<unsigned char>(name[i]));
    }
  }
  return text;
}

std::optional<std::string> FromHiveName(std::string_view folder, std::string_view column) {
  if (!folder.starts_with(column) || folder.substr(column.size(), 1) != "=") return std::nullopt;
  std::string_view rest = folder.substr(column.size() + 1);
  std::string name;
  while (!rest.empty()) {
    if (rest.front() != '%') {
      name += rest.front();
      rest.remove_prefix(1);
      continue;
    }
    unsigned code = 0;
    const std::string_view digits = rest.substr(1, 2);
    const auto [end, error] =
        std::from_chars(digits.data(), digits.data() + digits.size(), code, 16);
    if (error != std::errc() || digits.size() != 2 || end != digits.data() + 2) return std::nullopt;
    name += static_cast<char>(code);
    rest.remove_prefix(3);
  }
  return name;
}

}  // namespace tracedb
