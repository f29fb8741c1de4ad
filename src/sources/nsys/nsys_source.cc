#include "sources/nsys/nsys_source.h"

#include <algorithm>
#include <cstring>
#include <system_error>

#include "sources/nsys/export_header.h"
#include "sources/nsys/gpu_rows.h"
#include "sources/nsys/host_rows.h"
#include "sources/nsys/name_rows.h"
#include "sources/nsys/other_rows.h"
#include "sources/nsys/range_rows.h"
#include "tracedb/ingest/read/content_hash.h"

namespace tracedb {
namespace {

constexpr size_t kTextBytes = 256 * 1024;  // made at a time

bool IsGpuTable(std::string_view table) {
  return std::find(std::begin(kGpuTables), std::end(kGpuTables), table) != std::end(kGpuTables);
}

}  // namespace

Error ExportError(const std::filesystem::path& path, const Error& error) {
  if (error.kind == ErrorKind::kInput && !error.advice.empty()) return error;
  std::string what = error.what;
  if (!what.starts_with(path.string())) what = path.string() + ": " + what;
  return {ErrorKind::kInput, std::move(what),
          "export it again: nsys export --type sqlite --include-blobs=true"};
}

Result<std::unique_ptr<ByteSource>> NsysSource::Open(const std::filesystem::path& path,
                                                     const NsysOptions& options,
                                                     const std::vector<NsysPart>& parts,
                                                     size_t part, const std::atomic<bool>* stop,
                                                     size_t memory_bytes) {
  std::unique_ptr<NsysSource> source(new NsysSource(path, options, parts));
  source->limits_ = ExportLimits::Of(memory_bytes);
  Status begun = source->Begin(part, stop);
  if (!begun.ok()) return ExportError(path, begun.error());
  return std::unique_ptr<ByteSource>(std::move(source));
}

Status NsysSource::Begin(size_t part, const std::atomic<bool>* stop) {
  stop_ = stop;
  std::error_code error;
  file_bytes_ = std::filesystem::file_size(File(), error);
  if (error) file_bytes_ = 0;
  TRACEDB_ASSIGN(db, OpenExport(path_, stop));
  db_.emplace(std::move(db));
  TRACEDB_ASSIGN(rows_max, RowsMax(*db_));
  rows_max_ = rows_max;
  TRACEDB_ASSIGN(names, ExportTables::Read(*db_));
  names_.emplace(std::move(names));
  TRACEDB_ASSIGN(texts, TextIds::Read(*db_, *names_, rows_max_, limits_.text_bytes_max));
  texts_.emplace(std::move(texts));
  reading_.emplace(*db_, *names_, *texts_, parts_, part, issues_);
  const std::string groups = NcclCommunicators(parts_).Groups(part, limits_.group_bytes_max);
  TRACEDB_ASSIGN(header, ExportHeader(*reading_, groups));
  text_ = std::move(header);
  TRACEDB_TRY(FindTables());
  return texts_->status();
}

// Which tables there are, and who reads each.
Status NsysSource::FindTables() {
  const ExportTables& names = *names_;
  if (ProcessNameRows::Reads(names)) {
    tables_.push_back({ProcessNameRows::kTable, std::make_unique<ProcessNameRows>()});
  }
  if (ThreadNameRows::Reads(names)) {
    tables_.push_back({ThreadNameRows::kTable, std::make_unique<ThreadNameRows>()});
  }
  for (const std::string& table : names.Names()) {
    if (!OtherRows::Reads(names, table)) continue;
    std::unique_ptr<TableRows> rows;
    const bool kept = options_.keep_osrt || table != "OSRT_API";
    if (!kept || table == "SCHED_EVENTS" || table == "COMPOSITE_EVENTS") {
      TRACEDB_TRY(CountLeftOut(table));
      continue;
    }
    if (table == kKernelTable) {
      TRACEDB_ASSIGN(payloads, NcclPayloads::Read(*db_, names));
      TRACEDB_ASSIGN(calls,
                     NcclCalls::Read(*reading_, payloads, rows_max_, limits_.call_bytes_max));
      rows = std::make_unique<KernelRows>(names, std::move(calls));
    } else if (table == kCopyTable || table == kFillTable) {
      rows = std::make_unique<CopyRows>(names, table == kFillTable);
    } else if (table == kGraphTable) {
      rows = std::make_unique<GraphRows>(names, reading_->part().has_graph_kernels);
    } else if (table == kCallTable) {
      rows = std::make_unique<CallRows>(names);
    } else if (table == kRangeTable) {
      rows = std::make_unique<RangeRows>(names);
    } else if (table == kSyncTable) {
      TRACEDB_ASSIGN(made, SyncRows::Make(*reading_, rows_max_, limits_.sync_bytes_max));
      rows = std::move(made);
    } else if (table == kMetricTable) {
      TRACEDB_ASSIGN(made, MetricRows::Make(*reading_, rows_max_));
      rows = std::move(made);
    } else {
      rows = std::make_unique<OtherRows>(names, table);
    }
    tables_.push_back({table, std::move(rows)});
  }
  // Calls before the work that they launch, as PyTorch's profiler has them.
  std::stable_partition(tables_.begin(), tables_.end(),
                        [](const Table& table) { return !IsGpuTable(table.name); });
  return Done{};
}

Status NsysSource::CountLeftOut(const std::string& table) {
  TRACEDB_ASSIGN(rows, db_->Prepare("SELECT 1 FROM " + QuotedName(table) + " WHERE " +
                                    reading_->Condition(table)));
  uint64_t count = 0;
  for (;; ++count) {
    TRACEDB_ASSIGN(row, StepRow(rows, count, rows_max_));
    if (!row) break;
  }
  if (count > 0) reading_->LeftOut(table, count);
  return Done{};
}

Result<size_t> NsysSource::Read(std::span<char> into) {
  if (text_at_ == text_.size() && !over_) {
    given_ += text_.size();
    text_.clear();
    text_at_ = 0;
    Status filled = Fill();
    if (!filled.ok()) return ExportError(path_, filled.error());
  }
  const size_t count = std::min(into.size(), text_.size() - text_at_);
  std::memcpy(into.data(), text_.data() + text_at_, count);
  text_at_ += count;
  return count;
}

Status NsysSource::Fill() {
  while (text_.size() < kTextBytes && !over_) {
    if (!rows_.has_value()) {
      if (table_ < tables_.size()) {
        TRACEDB_TRY(BeginTable());
        continue;
      }
      over_ = true;
      text_ += "\n]}\n";
      TRACEDB_ASSIGN(hash, HashFile(File(), stop_));
      file_hash_ = std::move(hash);
      break;
    }
    TRACEDB_ASSIGN(row, StepRow(*rows_, rows_of_table_++, rows_max_));
    if (!row) {
      rows_.reset();
      ++table_;
      continue;
    }
    reading_->SetPlace(given_ + text_.size());
    tables_[table_].rows->Write(*rows_, *reading_, events_);
  }
  return texts_->status();
}

Status NsysSource::BeginTable() {
  const Table& table = tables_[table_];
  TRACEDB_ASSIGN(rows, db_->Prepare(table.rows->Sql(*reading_)));
  rows_.emplace(std::move(rows));
  rows_of_table_ = 0;
  return Done{};
}

uint64_t NsysSource::packed_bytes() const {
  if (over_ || tables_.empty()) return file_bytes_;
  return file_bytes_ / tables_.size() * std::min(table_, tables_.size());
}

}  // namespace tracedb
