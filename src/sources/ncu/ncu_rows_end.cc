// The end of a file: numbers that came too early are read, processes are put in order, and what is
// known of the whole file is stored.
#include <algorithm>
#include <vector>

#include "sources/ncu/ncu_paths.h"
#include "sources/ncu/ncu_rows.h"
#include "sources/ncu/ncu_units.h"

namespace tracedb {

// FNV-1a, a name and a line end at a time.
uint64_t WithMetric(uint64_t hash, std::string_view metric) {
  constexpr uint64_t kPrime = 0x100000001b3;
  for (const char c : metric) hash = (hash ^ static_cast<unsigned char>(c)) * kPrime;
  return (hash ^ '\n') * kPrime;
}

// Rows are few: a file's first numbers tell its decimal mark, in all but made up ones.
Status NcuRows::ReadPending() {
  if (first_pending_ == 0) return Done{};
  TRACEDB_ASSIGN(select,
                 rows_.db->Prepare(
                     "SELECT m.rowid, m.text, n.metric, n.unit, m.kernel FROM _ncu_metric m JOIN "
                     "_ncu_metric_name "
                     "n ON n.source_id = m.source_id AND n.metric_id = m.metric_id "
                     "WHERE m.rowid BETWEEN ?1 AND ?2 AND m.value IS NULL ORDER BY m.rowid"));
  TRACEDB_ASSIGN(update, rows_.db->Prepare(
                             "UPDATE _ncu_metric SET value = ?2, value_si = ?3 WHERE rowid = ?1"));
  TRACEDB_ASSIGN(set_duration,
                 rows_.db->Prepare("UPDATE _ncu_kernel SET duration = ?2, dur_ns = ?3 "
                                   "WHERE source_id = ?4 AND kernel = ?1"));
  TRACEDB_TRY(set_duration.Bind(4, rows_.source_id));
  TRACEDB_TRY(select.Bind(1, first_pending_));
  TRACEDB_TRY(select.Bind(2, last_pending_));
  uint64_t refused = 0;
  for (;;) {
    TRACEDB_ASSIGN(is_row, select.Step());
    if (!is_row) break;
    const NumberReading reading = ReadNumber(select.Text(1), mark_);
    if (reading.form == NumberForm::kAmbiguous) ++refused;
    if (reading.form != NumberForm::kNumber) continue;
    const std::string unit(select.Text(3));
    const NcuUnit base = BaseUnitOf(unit);
    const std::optional<int64_t> whole = WholeNumber(reading.plain);
    TRACEDB_TRY(update.Bind(1, select.Int(0)));
    TRACEDB_TRY(whole ? update.Bind(2, *whole) : update.Bind(2, RealNumber(reading.plain)));
    TRACEDB_TRY(base.exponent != 0 ? update.Bind(3, RealNumber(reading.plain, base.exponent))
                                   : update.BindNull(3));
    TRACEDB_TRY(update.Run());
    if (base.base != "s" || NcuMeaningOf(select.Text(2), unit) != NcuMeaning::kDuration) continue;
    TRACEDB_TRY(set_duration.Bind(1, select.Int(4)));
    TRACEDB_TRY(set_duration.Bind(2, RealNumber(reading.plain)));
    TRACEDB_TRY(set_duration.BindOptional(3, Nanoseconds(reading.plain, base.exponent)));
    TRACEDB_TRY(set_duration.Run());
  }
  unread_numbers_ += static_cast<int64_t>(refused);
  if (refused > 0) issues().Add("ambiguous_number", pending_offset_, pending_text_, refused);
  return Done{};
}

Result<std::string> NcuRows::MetricSetOfNames() {
  TRACEDB_ASSIGN(
      select,
      rows_.db->Prepare(
          "SELECT DISTINCT metric FROM _ncu_metric_name WHERE is_asked = 1 ORDER BY metric"));
  uint64_t hash = kNoMetrics;
  for (;;) {
    TRACEDB_ASSIGN(is_row, select.Step());
    if (!is_row) return std::to_string(hash);
    hash = WithMetric(hash, select.Text(0));
  }
}

// Placed by process id in each table, so that the ranks of one host come in the order they were
// started in.
Status NcuRows::StoreProcesses() {
  std::vector<const Process*> sorted;
  for (const auto& [key, process] : processes_) sorted.push_back(&process);
  std::sort(sorted.begin(), sorted.end(), [](const Process* a, const Process* b) {
    if (a->table != b->table) return a->table < b->table;
    for (const int cell : {0, 3, 1, 2, 4}) {
      const std::string x = NcuNameOrder(a->cells[cell]), y = NcuNameOrder(b->cells[cell]);
      if (x != y) return x < y;
    }
    return false;
  });
  TRACEDB_ASSIGN(of_file, MetricSetOfNames());
  TRACEDB_ASSIGN(insert, rows_.db->Prepare("INSERT INTO _ncu_process VALUES (?1, ?2, ?3, ?4, ?5, "
                                           "?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13)"));
  int64_t place = 0;
  for (size_t i = 0; i < sorted.size(); ++i) {
    const Process& process = *sorted[i];
    place = i > 0 && sorted[i - 1]->table == process.table ? place + 1 : 0;
    const std::string& set = metric_sets_[static_cast<size_t>(process.table)];
    TRACEDB_TRY(insert.Bind(1, rows_.source_id));
    TRACEDB_TRY(insert.Bind(2, process.row));
    const std::optional<int64_t> process_id = WholeNumber(process.cells[0]);
    TRACEDB_TRY(process_id ? insert.Bind(3, *process_id) : insert.BindNull(3));
    for (int cell = 1; cell < 5; ++cell) {
      TRACEDB_TRY(insert.Bind(cell + 3, std::string_view(process.cells[cell])));
    }
    TRACEDB_TRY(insert.Bind(8, process.kernels));
    TRACEDB_TRY(insert.Bind(9, process.first_id));
    TRACEDB_TRY(insert.Bind(10, process.last_id));
    TRACEDB_TRY(insert.Bind(11, process.table));
    TRACEDB_TRY(insert.Bind(12, std::string_view(set.empty() ? of_file : set)));
    TRACEDB_TRY(insert.Bind(13, place));
    TRACEDB_TRY(insert.Run());
  }
  return Done{};
}

Status NcuRows::StoreFile() {
  TRACEDB_ASSIGN(
      insert,
      rows_.db->Prepare(
          "INSERT INTO _ncu_file VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12)"));
  TRACEDB_TRY(insert.Bind(1, rows_.source_id));
  TRACEDB_TRY(insert.Bind(2, std::string_view(page_.empty() ? "metrics" : page_)));
  TRACEDB_TRY(insert.Bind(3, kernels_));
  TRACEDB_TRY(insert.Bind(4, columns_));
  TRACEDB_TRY(insert.Bind(5, empty_cells_));
  if (mark_ == DecimalMark::kUnknown) {
    TRACEDB_TRY(insert.BindNull(6));
    TRACEDB_TRY(insert.BindNull(7));
  } else {
    TRACEDB_TRY(insert.Bind(6, std::string_view(mark_ == DecimalMark::kPoint ? "." : ",")));
    TRACEDB_TRY(insert.Bind(7, std::string_view(mark_evidence_)));
  }
  TRACEDB_TRY(insert.Bind(8, unread_numbers_));
  TRACEDB_TRY(insert.Bind(9, missing_ids_));
  TRACEDB_TRY(insert.Bind(10, double_ids_));
  TRACEDB_TRY(insert.Bind(11, std::string_view(NcuNameOrder(rows_.path))));
  const std::optional<int64_t> number = NcuNumberInPath(rows_.path);
  TRACEDB_TRY(number ? insert.Bind(12, *number) : insert.BindNull(12));
  return insert.Run();
}

Status NcuRows::Finish() {
  TRACEDB_TRY(ReadPending());
  TRACEDB_TRY(StoreProcesses());
  TRACEDB_TRY(StoreFile());
  rows_.rank = NcuRankInPath(rows_.path);
  if (processes_.size() == 1) {
    const std::string& host = processes_.begin()->second.cells[2];
    if (!host.empty() && host != "127.0.0.1") rows_.host = host;
  }
  return Done{};
}

}  // namespace tracedb
