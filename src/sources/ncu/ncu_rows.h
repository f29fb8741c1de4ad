// The rows that a file of Nsight Compute becomes, and its numbers: which decimal mark they have is
// found out on the way (ncu_numbers.h), and cells that came too early to be read are read again at
// the end.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "sources/ncu/ncu_numbers.h"
#include "sources/ncu/ncu_table.h"
#include "sources/read/source_names.h"
#include "tracedb/base/result.h"
#include "tracedb/base/sqlite_db.h"
#include "tracedb/sources/read/source_reader.h"

namespace tracedb {

// A kernel as the cells of its row, or of its first row, tell it.
struct NcuKernel {
  std::array<std::string, kNcuColumns> cells;
  int64_t id = 0;
  uint64_t offset = 0;
  std::optional<double> duration;
  std::string duration_unit;
  std::optional<int64_t> dur_ns;

  std::string& operator[](NcuColumn column) { return cells[static_cast<size_t>(column)]; }
  const std::string& operator[](NcuColumn column) const {
    return cells[static_cast<size_t>(column)];
  }
};

class NcuRows {
 public:
  // A metric's number in the file, with what is needed to read its values.
  struct Metric {
    int64_t id = 0;
    NcuMeaning meaning = NcuMeaning::kPlain;
    int exponent = 0;
  };

  explicit NcuRows(SourceRows& rows) : rows_(rows) {}
  Status Begin();

  Result<Metric> MetricOf(std::string_view section, std::string_view metric, std::string_view unit);
  // Of the kernel that AddKernel() will be called for next.
  Status AddMetric(NcuKernel& kernel, const Metric& metric, std::string_view unit,
                   std::string_view text, uint64_t offset);
  void AddEmpty() { ++empty_cells_; }
  Status AddRule(const NcuKernel& kernel);
  Status AddKernel(const NcuKernel& kernel);

  // A new table begins: its ids need not go on from those of the last.
  void BeginTable(const NcuTable& table, const std::vector<std::string>& names);
  Status Finish();

  int64_t kernels() const { return kernels_; }
  SourceIssues& issues() { return rows_.issues; }

 private:
  static constexpr size_t kProcessesMax = 4096;
  struct Process {
    int64_t kernels = 0;
    int64_t first_id = 0, last_id = 0;
    int64_t row = 0;  // its number in the file
    int64_t table = 0;
    std::string cells[5];
  };

  Status Prepare(std::optional<SqliteStatement>& statement, std::string_view sql);
  Result<int64_t> KernelName(const std::string& name);
  Process& ProcessOf(const NcuKernel& kernel);
  void NoteMark(DecimalMark mark, std::string_view text);
  void NoteWhole(const NcuKernel& kernel, NcuMeaning meaning, std::string_view unit,
                 std::string_view text);
  Status WriteMetric(int64_t metric_id, std::string_view text, const NumberReading& reading,
                     int exponent);
  Status ReadPending();
  Status StoreFile();
  Status StoreProcesses();
  Result<std::string> MetricSetOfNames();

  SourceRows& rows_;
  std::optional<SqliteStatement> insert_metric_, insert_kernel_, insert_metric_name_,
      insert_kernel_name_, insert_rule_;
  SourceNames metric_names_, kernel_names_;
  std::string key_;

  DecimalMark mark_ = DecimalMark::kUnknown;
  std::string mark_evidence_;
  // Rows whose number could not be read as yet lie between these, at first offset pending_offset_.
  int64_t first_pending_ = 0, last_pending_ = 0;
  uint64_t pending_offset_ = 0;
  std::string pending_text_;

  std::unordered_map<std::string, Process> processes_;
  std::vector<std::string> metric_sets_;  // of tables; empty: of the whole file
  std::string page_;
  int64_t kernels_ = 0;
  int64_t columns_ = 0;
  int64_t empty_cells_ = 0;
  int64_t missing_ids_ = 0, double_ids_ = 0;
  int64_t unread_numbers_ = 0;
  std::optional<int64_t> last_id_;  // in this table
};

// A hash of names of metrics, which come in their order.
inline constexpr uint64_t kNoMetrics = 0xcbf29ce484222325;
uint64_t WithMetric(uint64_t hash, std::string_view metric);

}  // namespace tracedb
