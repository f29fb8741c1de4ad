#include "sources/ncu/ncu_rows.h"

#include <algorithm>
#include <charconv>
#include <vector>

#include "sources/ncu/ncu_units.h"

namespace tracedb {
namespace {

constexpr double kLeastDurationNs = 1000;  // no kernel is as short as that

bool IsTime(std::string_view unit_si) { return unit_si == "s"; }

}  // namespace

Status NcuRows::Prepare(std::optional<SqliteStatement>& statement, std::string_view sql) {
  TRACEDB_ASSIGN(prepared, rows_.db->Prepare(sql));
  statement = std::move(prepared);
  return statement->Bind(1, rows_.source_id);
}

Status NcuRows::Begin() {
  TRACEDB_TRY(Prepare(insert_metric_, "INSERT INTO _ncu_metric VALUES (?1, ?2, ?3, ?4, ?5, ?6)"));
  TRACEDB_TRY(Prepare(insert_kernel_,
                      "INSERT INTO _ncu_kernel VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, "
                      "?11, ?12, ?13, ?14)"));
  TRACEDB_TRY(Prepare(insert_metric_name_,
                      "INSERT INTO _ncu_metric_name VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)"));
  TRACEDB_TRY(Prepare(insert_kernel_name_, "INSERT INTO _ncu_kernel_name VALUES (?1, ?2, ?3, ?4)"));
  return Prepare(insert_rule_, "INSERT INTO _ncu_rule VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)");
}

Result<NcuRows::Metric> NcuRows::MetricOf(std::string_view section, std::string_view metric,
                                          std::string_view unit) {
  key_.assign(section).append(1, '\n').append(metric).append(1, '\n').append(unit);
  const SourceNames::Number number = metric_names_.Of(key_);
  const NcuUnit base = BaseUnitOf(unit);
  NcuMeaning meaning = NcuMeaningOf(metric, unit);
  if (meaning == NcuMeaning::kDuration && !IsTime(base.base)) meaning = NcuMeaning::kPlain;
  if (number.is_new) {
    TRACEDB_TRY(insert_metric_name_->Bind(2, number.id));
    TRACEDB_TRY(insert_metric_name_->BindTextOrNull(3, std::string(section)));
    TRACEDB_TRY(insert_metric_name_->Bind(4, metric));
    TRACEDB_TRY(insert_metric_name_->Bind(5, unit));
    TRACEDB_TRY(insert_metric_name_->Bind(6, std::string_view(base.base)));
    TRACEDB_TRY(insert_metric_name_->Bind(7, int64_t{IsAskedMetric(metric) ? 1 : 0}));
    TRACEDB_TRY(insert_metric_name_->Run());
  }
  return Metric{number.id, meaning, base.exponent};
}

void NcuRows::NoteMark(DecimalMark mark, std::string_view text) {
  if (mark == DecimalMark::kUnknown || mark_ != DecimalMark::kUnknown) return;
  mark_ = mark;
  mark_evidence_ = text.substr(0, SourceIssues::kExcerptBytes);
}

// A number that could be read in two ways, of which one cannot be.
void NcuRows::NoteWhole(const NcuKernel& kernel, NcuMeaning meaning, std::string_view unit,
                        std::string_view text) {
  const DecimalMark mark = MarkIfWhole(text);
  if (mark == DecimalMark::kUnknown) return;
  const NumberReading whole = ReadNumber(text, mark);
  const std::optional<int64_t> value = WholeNumber(whole.plain);
  if (!value) return;
  const std::string& grid = kernel[NcuColumn::kGridSize];
  switch (meaning) {
    case NcuMeaning::kWhole:
      return NoteMark(mark, text);
    case NcuMeaning::kDuration:
      if (static_cast<double>(*value) >= kLeastDurationNs && (unit == "ns" || unit == "nsecond")) {
        NoteMark(mark, text);
      }
      return;
    case NcuMeaning::kGridSize:
      if (*value == NcuVolume(grid)) NoteMark(mark, text);
      return;
    case NcuMeaning::kGridX:
      if (*value == NcuFirstDimension(grid)) NoteMark(mark, text);
      return;
    case NcuMeaning::kPlain:
      return;
  }
}

Status NcuRows::AddMetric(NcuKernel& kernel, const Metric& metric, std::string_view unit,
                          std::string_view text, uint64_t offset) {
  NumberReading reading = ReadNumber(text, mark_);
  if (reading.form == NumberForm::kAmbiguous && mark_ == DecimalMark::kUnknown) {
    NoteWhole(kernel, metric.meaning, unit, text);
    if (mark_ != DecimalMark::kUnknown) reading = ReadNumber(text, mark_);
  }
  NoteMark(reading.implied, text);
  TRACEDB_TRY(WriteMetric(metric.id, text, reading, metric.exponent));
  if (reading.form == NumberForm::kContrary) {
    issues().Add("number_of_another_locale", offset, text);
    ++unread_numbers_;
  } else if (reading.form == NumberForm::kAmbiguous) {
    TRACEDB_ASSIGN(row, rows_.db->Integer("SELECT last_insert_rowid()"));
    if (first_pending_ == 0) {
      first_pending_ = row;
      pending_offset_ = offset;
      pending_text_ = text;
    }
    last_pending_ = row;
  }
  if (metric.meaning == NcuMeaning::kDuration) {
    kernel.duration_unit = unit;
    if (reading.form == NumberForm::kNumber) {
      kernel.duration = RealNumber(reading.plain);
      kernel.dur_ns = Nanoseconds(reading.plain, metric.exponent);
    }
  }
  return Done{};
}

// The text is copied, which takes longer than all else: only where the number does not tell it.
Status NcuRows::WriteMetric(int64_t metric_id, std::string_view text, const NumberReading& reading,
                            int exponent) {
  SqliteStatement& insert = *insert_metric_;
  TRACEDB_TRY(insert.Bind(2, kernels_));
  TRACEDB_TRY(insert.Bind(3, metric_id));
  bool has_text = true;
  if (reading.form != NumberForm::kNumber) {
    TRACEDB_TRY(insert.BindNull(4));
  } else if (const std::optional<int64_t> whole = WholeNumber(reading.plain)) {
    TRACEDB_TRY(insert.Bind(4, *whole));
    has_text = reading.plain != text || (text.starts_with('0') && text != "0");
  } else {
    const double value = RealNumber(reading.plain);
    TRACEDB_TRY(insert.Bind(4, value));
    has_text = !IsTextOf(text, value);
  }
  TRACEDB_TRY(has_text ? insert.Bind(5, text) : insert.BindNull(5));
  const bool has_si = reading.form == NumberForm::kNumber && exponent != 0;
  TRACEDB_TRY(has_si ? insert.Bind(6, RealNumber(reading.plain, exponent)) : insert.BindNull(6));
  ++rows_.rows;
  return insert.Run();
}

Status NcuRows::AddRule(const NcuKernel& kernel) {
  SqliteStatement& insert = *insert_rule_;
  TRACEDB_TRY(insert.Bind(2, kernels_));
  int at = 2;
  for (const NcuColumn column : {NcuColumn::kSection, NcuColumn::kRuleName, NcuColumn::kRuleType,
                                 NcuColumn::kRuleDescription, NcuColumn::kSpeedupType}) {
    TRACEDB_TRY(insert.BindTextOrNull(++at, kernel[column]));
  }
  const std::string& written = kernel[NcuColumn::kSpeedup];
  const NumberReading speedup = ReadNumber(written, mark_);
  if (speedup.form == NumberForm::kAmbiguous || speedup.form == NumberForm::kContrary) {
    const bool is_contrary = speedup.form == NumberForm::kContrary;
    issues().Add(is_contrary ? "number_of_another_locale" : "ambiguous_number", kernel.offset,
                 written);
    ++unread_numbers_;
  }
  TRACEDB_TRY(speedup.form == NumberForm::kNumber ? insert.Bind(++at, RealNumber(speedup.plain))
                                                  : insert.BindNull(++at));
  ++rows_.rows;
  return insert.Run();
}

Result<int64_t> NcuRows::KernelName(const std::string& name) {
  const SourceNames::Number number = kernel_names_.Of(name);
  if (number.is_new) {
    TRACEDB_TRY(insert_kernel_name_->Bind(2, number.id));
    TRACEDB_TRY(insert_kernel_name_->Bind(3, std::string_view(name)));
    TRACEDB_TRY(insert_kernel_name_->Bind(4, NcuBaseName(name)));
    TRACEDB_TRY(insert_kernel_name_->Run());
  }
  return number.id;
}

NcuRows::Process& NcuRows::ProcessOf(const NcuKernel& kernel) {
  constexpr std::array kCells = {NcuColumn::kProcessId, NcuColumn::kProcessName,
                                 NcuColumn::kHostName, NcuColumn::kDevice, NcuColumn::kCc};
  std::string key = std::to_string(metric_sets_.size()) + '\n';
  for (const NcuColumn column : kCells) key += kernel[column] + '\n';
  const auto found = processes_.find(key);
  if (found != processes_.end()) return found->second;
  if (processes_.size() == kProcessesMax) {
    issues().Add("too_many_processes", kernel.offset, kernel[NcuColumn::kProcessId]);
    return processes_.begin()->second;
  }
  Process& process = processes_[key];
  process.row = static_cast<int64_t>(processes_.size()) - 1;
  process.first_id = kernel.id;
  process.table = static_cast<int64_t>(metric_sets_.size()) - 1;
  for (size_t i = 0; i < kCells.size(); ++i) process.cells[i] = kernel[kCells[i]];
  return process;
}

Status NcuRows::AddKernel(const NcuKernel& kernel) {
  if (last_id_ && kernel.id > *last_id_) missing_ids_ += kernel.id - *last_id_ - 1;
  if (last_id_ && kernel.id <= *last_id_) ++double_ids_;
  last_id_ = kernel.id;
  TRACEDB_ASSIGN(name, KernelName(kernel[NcuColumn::kKernelName]));
  Process& process = ProcessOf(kernel);
  SqliteStatement& insert = *insert_kernel_;
  int at = 1;
  for (const int64_t value : {kernels_, process.row, process.kernels, kernel.id, name}) {
    TRACEDB_TRY(insert.Bind(++at, value));
  }
  for (const NcuColumn column : {NcuColumn::kGridSize, NcuColumn::kBlockSize, NcuColumn::kContext,
                                 NcuColumn::kStream, NcuColumn::kKernelTime}) {
    TRACEDB_TRY(insert.BindTextOrNull(++at, kernel[column]));
  }
  TRACEDB_TRY(kernel.duration ? insert.Bind(++at, *kernel.duration) : insert.BindNull(++at));
  TRACEDB_TRY(insert.BindTextOrNull(++at, kernel.duration_unit));
  TRACEDB_TRY(kernel.dur_ns ? insert.Bind(++at, *kernel.dur_ns) : insert.BindNull(++at));
  ++process.kernels;
  process.last_id = kernel.id;
  ++kernels_;
  ++rows_.rows;
  return insert.Run();
}

void NcuRows::BeginTable(const NcuTable& table, const std::vector<std::string>& names) {
  last_id_.reset();
  std::vector<std::string_view> asked;
  for (size_t i = 0; i < names.size() && !table.is_details; ++i) {
    const bool is_metric = table.columns[i].is == NcuColumn::kMetric;
    if (is_metric && IsAskedMetric(names[i])) asked.emplace_back(names[i]);
  }
  std::sort(asked.begin(), asked.end());
  uint64_t hash = kNoMetrics;
  for (const std::string_view name : asked) hash = WithMetric(hash, name);
  if (metric_sets_.size() == kProcessesMax) return;  // its kernels have no process of their own
  metric_sets_.push_back(table.is_details ? "" : std::to_string(hash));
  columns_ = columns_ == 0 ? table.metrics : columns_;
  const std::string page = table.is_details ? "details" : "raw";
  if (page_.empty()) page_ = page;
}

}  // namespace tracedb
