// A part of an export as the text of a trace, in pieces: a header, then table after table in the
// order of its rows. Nothing that follows wants events in the order of their time, so nothing is
// sorted here (DECISION-tables-in-turn.md).
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "sources/nsys/event_json.h"
#include "sources/nsys/part_reading.h"
#include "tracedb/base/sqlite_db.h"
#include "tracedb/ingest/read/byte_source.h"
#include "tracedb/memory/load_limits.h"
#include "tracedb/schema/event_issues.h"
#include "tracedb/sources/nsys/nsys_export.h"

namespace tracedb {

// What SQLite says of an export that cannot be read on.
Error ExportError(const std::filesystem::path& path, const Error& error);

class NsysSource final : public ByteSource {
 public:
  static Result<std::unique_ptr<ByteSource>> Open(const std::filesystem::path& path,
                                                  const NsysOptions& options,
                                                  const std::vector<NsysPart>& parts, size_t part,
                                                  const std::atomic<bool>* stop,
                                                  size_t memory_bytes);

  Result<size_t> Read(std::span<char> into) override;
  const std::optional<ByteDamage>& damage() const override { return damage_; }
  BytePacking packing() const override { return BytePacking::kMade; }
  uint64_t packed_bytes() const override;
  std::string file_hash() const override { return file_hash_; }
  const EventIssues* issues() const override { return &issues_; }

 private:
  struct Table {
    std::string name;
    std::unique_ptr<TableRows> rows;
  };

  NsysSource(std::filesystem::path path, const NsysOptions& options, std::vector<NsysPart> parts)
      : path_(std::move(path)), options_(options), parts_(std::move(parts)), events_(text_) {}
  // By whose content it is known.
  const std::filesystem::path& File() const {
    return options_.made_of.empty() ? path_ : options_.made_of;
  }
  Status Begin(size_t part, const std::atomic<bool>* stop);
  Status FindTables();
  Status Fill();
  Status BeginTable();
  Status CountLeftOut(const std::string& table);

  std::filesystem::path path_;
  NsysOptions options_;
  std::vector<NsysPart> parts_;
  const std::atomic<bool>* stop_ = nullptr;
  uint64_t rows_max_ = 0;
  uint64_t file_bytes_ = 0;
  ExportLimits limits_;
  std::optional<SqliteDb> db_;
  std::optional<ExportTables> names_;
  std::optional<TextIds> texts_;
  std::optional<PartReading> reading_;
  std::vector<Table> tables_;
  size_t table_ = 0;                     // that is being read
  std::optional<SqliteStatement> rows_;  // of it
  uint64_t rows_of_table_ = 0;
  std::string text_;  // made, and not yet given
  size_t text_at_ = 0;
  uint64_t given_ = 0;
  EventJson events_;
  bool over_ = false;
  std::string file_hash_;
  EventIssues issues_;
  std::optional<ByteDamage> damage_;
};

}  // namespace tracedb
