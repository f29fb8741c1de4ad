#include "sources/logs/log_rows.h"

#include <algorithm>
#include <array>
#include <utility>

#include "tracedb/json/json_text.h"

namespace tracedb {
namespace {

// Of the names that are kept to be known again; a line has up to 1 MiB of them.
constexpr size_t kFormsMax = 1024;
constexpr size_t kFormsBytesMax = size_t{1} << 20;

enum Statement {
  kNames,
  kIteration,
  kEvaluation,
  kTimer,
  kTimerSlice,
  kMemory,
  kArgument,
  kEvent,
  kStraggler,
  kMessage,
  kSetting
};

// Each begins with what BindPlace() binds: source_id, line, iteration, at_ns, after_ns, rank,
// writer.
constexpr std::string_view kPlaceSql =
    "(source_id, line, iteration, at_ns, after_ns, rank, writer, ";
constexpr std::pair<std::string_view, std::string_view> kInserts[] = {
    {"_log_names", ""},
    {"_log_iteration",
     "iterations, elapsed_ms, loss, grad_norm, tflops, learning_rate, batch_size, samples, tokens,"
     " names_id, numbers"},
    {"_log_evaluation", "dataset, names_id, numbers"},
    {"_log_timer", "form, names_id, numbers"},
    {"_log_timer_slice", "name, ordinal, start_ns, end_ns"},
    {"_log_memory", "name, mb"},
    {"_log_argument", "section, name, value"},
    {"_log_event", "name, pid"},
    {"_log_straggler", "name, value, unit, of_rank"},
    {"_log_message", "kind, position, count, text"},
    {"_job_setting", "kind, name, value, written, item"},
};
constexpr int kPlaceColumns = 7;

struct ColumnName {
  IterationColumn column;
  std::string_view name;
};
// Of two in one line, the one that stands first here.
constexpr ColumnName kColumnNames[] = {
    {IterationColumn::kElapsed, "elapsed time per iteration (ms)"},
    {IterationColumn::kElapsed, "elapsed_time_per_iteration_ms"},
    {IterationColumn::kElapsed, "elapsed_ms"},
    {IterationColumn::kElapsed, "iteration time (ms)"},
    {IterationColumn::kElapsed, "iteration time"},
    {IterationColumn::kElapsed, "iteration time (s)"},
    {IterationColumn::kElapsed, "train_step_timing in s"},
    {IterationColumn::kLoss, "lm loss"},
    {IterationColumn::kLoss, "lm_loss"},
    {IterationColumn::kLoss, "loss"},
    {IterationColumn::kLoss, "Loss"},
    {IterationColumn::kLoss, "train_loss"},
    {IterationColumn::kLoss, "reduced_train_loss"},
    {IterationColumn::kGradNorm, "grad norm"},
    {IterationColumn::kGradNorm, "grad_norm"},
    {IterationColumn::kTflops, "throughput per GPU (TFLOP/s/GPU)"},
    {IterationColumn::kTflops, "throughput (TFLOP/s/GPU)"},
    {IterationColumn::kTflops, "TFLOPs"},
    {IterationColumn::kTflops, "[LM]TFLOPs"},
    {IterationColumn::kTflops, "tflops"},
    {IterationColumn::kTflops, "model_tflops_per_gpu"},
    {IterationColumn::kLearningRate, "learning rate"},
    {IterationColumn::kLearningRate, "learning_rate"},
    {IterationColumn::kLearningRate, "lr"},
    {IterationColumn::kBatchSize, "global batch size"},
    {IterationColumn::kBatchSize, "global_batch_size"},
    {IterationColumn::kSamples, "consumed samples"},
    {IterationColumn::kSamples, "consumed_samples"},
    {IterationColumn::kTokens, "consumed tokens"},
    {IterationColumn::kTokens, "consumed_tokens"},
};

}  // namespace

Result<std::unique_ptr<LogRows>> LogRows::Make(SourceRows& rows) {
  std::unique_ptr<LogRows> made(new LogRows(rows));
  TRACEDB_TRY(made->Prepare());
  return made;
}

Status LogRows::Prepare() {
  for (const auto& [table, columns] : kInserts) {
    std::string sql = "INSERT INTO " + std::string(table);
    size_t parameters = kPlaceColumns;
    if (columns.empty()) {
      sql += "(source_id, names_id, names, units) VALUES (?1, ?2, ?3, ?4)";
    } else {
      parameters += static_cast<size_t>(std::count(columns.begin(), columns.end(), ',')) + 1;
      sql += std::string(kPlaceSql) + std::string(columns) + ") VALUES (?1";
      for (size_t i = 2; i <= parameters; ++i) sql += ", ?" + std::to_string(i);
      sql += ")";
    }
    TRACEDB_ASSIGN(statement, rows_.db.Prepare(sql));
    statements_.push_back(std::move(statement));
  }
  return Done{};
}

Status LogRows::BindPlace(SqliteStatement& statement, const LogPlace& place) {
  TRACEDB_TRY(statement.Bind(1, rows_.source_id));
  TRACEDB_TRY(statement.Bind(2, static_cast<int64_t>(place.line)));
  TRACEDB_TRY(statement.BindOptional(3, place.iteration));
  TRACEDB_TRY(statement.BindOptional(4, place.at_ns));
  TRACEDB_TRY(statement.BindOptional(5, place.after_ns));
  TRACEDB_TRY(statement.BindOptional(6, place.rank));
  return statement.BindTextOrNull(7, place.writer);
}

Status LogRows::Count(Status done) {
  if (done.ok()) ++rows_.rows;
  return done;
}

// Names that were seen once too often are written again with another number.
Result<int64_t> LogRows::NamesId(const std::string& names, const std::string& units) {
  std::string key = names + units;
  if (const auto at = names_ids_.find(key); at != names_ids_.end()) return at->second;
  if (names_ids_.size() == kFormsMax || names_ids_bytes_ > kFormsBytesMax) {
    names_ids_.clear();
    names_ids_bytes_ = 0;
  }
  names_ids_bytes_ += key.size();
  const int64_t id = ++last_names_id_;
  SqliteStatement& insert = statements_[kNames];
  TRACEDB_TRY(insert.Bind(1, rows_.source_id));
  TRACEDB_TRY(insert.Bind(2, id));
  TRACEDB_TRY(insert.Bind(3, names));
  TRACEDB_TRY(insert.BindTextOrNull(4, units));
  TRACEDB_TRY(insert.Run());
  names_ids_.emplace(std::move(key), id);
  return id;
}

bool LogRows::ReadAsLast(std::string_view text, std::vector<LogPair>& pairs) const {
  if (last_form_ == nullptr) return false;
  const auto skip_blanks = [&text] {
    while (text.starts_with(' ')) text.remove_prefix(1);
  };
  pairs.clear();
  for (const std::string& name : last_form_->names) {
    skip_blanks();
    if (!text.starts_with(name) || !text.substr(name.size()).starts_with(": ")) return false;
    text.remove_prefix(name.size() + 2);
    skip_blanks();
    size_t end = 0;
    while (end < text.size() && ((text[end] >= '0' && text[end] <= '9') || text[end] == '.' ||
                                 text[end] == 'E' || text[end] == '-' || text[end] == '+')) {
      ++end;
    }
    if (end == 0 || text[0] < '0' || text[0] > '9') return false;
    pairs.push_back({name, text.substr(0, end), {}});
    text.remove_prefix(end);
    skip_blanks();
    if (!text.starts_with('|')) return false;
    text.remove_prefix(1);
  }
  skip_blanks();
  return text.empty();
}

bool LogRows::HasLastForm(const std::vector<LogPair>& pairs) const {
  if (last_form_ != nullptr && pairs.size() == last_form_->names.size() && !pairs.empty() &&
      pairs.front().name.data() == last_form_->names.front().data()) {
    return true;  // of ReadAsLast()
  }
  const auto is_like = [](const LogPair& pair, const std::string& name) {
    return pair.unit.empty() && pair.name == name;
  };
  return last_form_ != nullptr && std::equal(pairs.begin(), pairs.end(), last_form_->names.begin(),
                                             last_form_->names.end(), is_like);
}

Result<const LogRows::Form*> LogRows::FormOf(const std::vector<LogPair>& pairs) {
  if (HasLastForm(pairs)) return last_form_;
  names_json_ = "[";
  units_json_.clear();
  for (const LogPair& pair : pairs) {
    if (names_json_.size() > 1) names_json_ += ',';
    AppendJsonString(names_json_, pair.name);
    if (pair.unit.empty()) continue;
    units_json_ += units_json_.empty() ? '{' : ',';
    AppendJsonString(units_json_, pair.name);
    units_json_ += ':';
    AppendJsonString(units_json_, pair.unit);
  }
  names_json_ += ']';
  if (!units_json_.empty()) units_json_ += '}';
  const std::string key = names_json_ + units_json_;
  auto at = forms_.find(key);
  if (at == forms_.end()) {
    if (forms_.size() == kFormsMax || forms_bytes_ > kFormsBytesMax) {
      forms_.clear();
      forms_bytes_ = 0;
    }
    forms_bytes_ += 2 * key.size();
    last_form_ = nullptr;
    Form form;
    TRACEDB_ASSIGN(id, NamesId(names_json_, units_json_));
    form.id = id;
    std::fill(std::begin(form.columns), std::end(form.columns), size_t{0});
    for (const LogPair& pair : pairs) form.names.emplace_back(pair.name);
    for (const ColumnName& known : kColumnNames) {
      size_t& place = form.columns[static_cast<size_t>(known.column)];
      const auto found = std::find(form.names.begin(), form.names.end(), known.name);
      if (place != 0 || found == form.names.end()) continue;
      place = static_cast<size_t>(found - form.names.begin()) + 1;
      const bool is_seconds = known.name.ends_with("(s)") || known.name.ends_with(" in s") ||
                              pairs[place - 1].unit == "s";
      if (known.column == IterationColumn::kElapsed) form.has_seconds = is_seconds;
    }
    at = forms_.emplace(key, std::move(form)).first;
  }
  if (units_json_.empty()) last_form_ = &at->second;
  return &at->second;
}

Status LogRows::AddIteration(const LogPlace& place, const LogHead& head,
                             const std::vector<LogPair>& pairs) {
  TRACEDB_ASSIGN(form, FormOf(pairs));
  SqliteStatement& insert = statements_[kIteration];
  TRACEDB_TRY(BindPlace(insert, place));
  TRACEDB_TRY(insert.BindOptional(kPlaceColumns + 1, head.iterations));
  int parameter = kPlaceColumns + 2;
  for (const size_t column : form->columns) {
    std::optional<double> value;
    const bool is_seconds = form->has_seconds && parameter == kPlaceColumns + 2;
    if (column != 0) value = WholeNumberOf(pairs[column - 1].value, is_seconds ? 3 : 0);
    TRACEDB_TRY(value ? insert.Bind(parameter, *value) : insert.BindNull(parameter));
    ++parameter;
  }
  numbers_json_ = "[";
  for (const LogPair& pair : pairs) {
    if (numbers_json_.size() > 1) numbers_json_ += ',';
    AppendJsonValue(pair.value, numbers_json_);
  }
  numbers_json_ += ']';
  TRACEDB_TRY(insert.Bind(parameter, form->id));
  TRACEDB_TRY(insert.Bind(parameter + 1, numbers_json_));
  return Count(insert.Run());
}

Status LogRows::AddEvaluation(const LogPlace& place, std::string_view dataset,
                              const std::vector<LogPair>& pairs) {
  TRACEDB_ASSIGN(form, FormOf(pairs));
  SqliteStatement& insert = statements_[kEvaluation];
  TRACEDB_TRY(BindPlace(insert, place));
  TRACEDB_TRY(insert.BindTextOrNull(kPlaceColumns + 1, dataset));
  numbers_json_ = "[";
  for (const LogPair& pair : pairs) {
    if (numbers_json_.size() > 1) numbers_json_ += ',';
    AppendJsonValue(pair.value, numbers_json_);
  }
  numbers_json_ += ']';
  TRACEDB_TRY(insert.Bind(kPlaceColumns + 2, form->id));
  TRACEDB_TRY(insert.Bind(kPlaceColumns + 3, numbers_json_));
  return Count(insert.Run());
}

Status LogRows::AddTimers(const LogPlace& place, const LogTimers& timers) {
  if (timers.names != last_timers_ || last_timers_id_ == 0) {
    names_json_ = "[";
    std::string_view rest = timers.names;
    while (!rest.empty()) {
      if (names_json_.size() > 1) names_json_ += ',';
      AppendJsonString(names_json_, rest.substr(0, rest.find('\n')));
      rest.remove_prefix(rest.find('\n') + 1);
    }
    names_json_ += ']';
    TRACEDB_ASSIGN(made_id, NamesId(names_json_, ""));
    last_timers_ = timers.names;
    last_timers_id_ = made_id;
  }
  numbers_json_ = "[";
  numbers_json_ += timers.numbers;
  numbers_json_ += ']';
  SqliteStatement& insert = statements_[kTimer];
  TRACEDB_TRY(BindPlace(insert, place));
  TRACEDB_TRY(insert.Bind(kPlaceColumns + 1, static_cast<int64_t>(timers.form)));
  TRACEDB_TRY(insert.Bind(kPlaceColumns + 2, last_timers_id_));
  TRACEDB_TRY(insert.Bind(kPlaceColumns + 3, numbers_json_));
  return Count(insert.Run());
}

Status LogRows::AddTimerSlice(const LogPlace& place, std::string_view name, int64_t ordinal,
                              int64_t start_ns, int64_t end_ns) {
  SqliteStatement& insert = statements_[kTimerSlice];
  TRACEDB_TRY(BindPlace(insert, place));
  TRACEDB_TRY(insert.Bind(kPlaceColumns + 1, name));
  TRACEDB_TRY(insert.Bind(kPlaceColumns + 2, ordinal));
  TRACEDB_TRY(insert.Bind(kPlaceColumns + 3, start_ns));
  TRACEDB_TRY(insert.Bind(kPlaceColumns + 4, end_ns));
  return Count(insert.Run());
}

Status LogRows::AddMemory(const LogPlace& place, std::string_view name, double mb) {
  SqliteStatement& insert = statements_[kMemory];
  TRACEDB_TRY(BindPlace(insert, place));
  TRACEDB_TRY(insert.Bind(kPlaceColumns + 1, name));
  TRACEDB_TRY(insert.Bind(kPlaceColumns + 2, mb));
  return Count(insert.Run());
}

Status LogRows::AddArgument(const LogPlace& place, std::string_view section, std::string_view name,
                            std::string_view value) {
  SqliteStatement& insert = statements_[kArgument];
  TRACEDB_TRY(BindPlace(insert, place));
  TRACEDB_TRY(insert.Bind(kPlaceColumns + 1, section));
  TRACEDB_TRY(insert.Bind(kPlaceColumns + 2, name));
  TRACEDB_TRY(insert.Bind(kPlaceColumns + 3, value));
  return Count(insert.Run());
}

Status LogRows::AddEvent(const LogPlace& place, std::string_view name, std::optional<int64_t> pid) {
  SqliteStatement& insert = statements_[kEvent];
  TRACEDB_TRY(BindPlace(insert, place));
  TRACEDB_TRY(insert.Bind(kPlaceColumns + 1, name));
  TRACEDB_TRY(insert.BindOptional(kPlaceColumns + 2, pid));
  return Count(insert.Run());
}

Status LogRows::AddStraggler(const LogPlace& place, std::string_view name, std::string_view value,
                             std::string_view unit, std::string_view of_rank) {
  SqliteStatement& insert = statements_[kStraggler];
  TRACEDB_TRY(BindPlace(insert, place));
  TRACEDB_TRY(insert.Bind(kPlaceColumns + 1, name));
  const std::optional<double> number = LeadingNumber(value);
  TRACEDB_TRY(number ? insert.Bind(kPlaceColumns + 2, *number)
                     : insert.Bind(kPlaceColumns + 2, value));
  TRACEDB_TRY(insert.BindTextOrNull(kPlaceColumns + 3, unit));
  const std::optional<int64_t> rank = TakeLogNumber(of_rank);
  TRACEDB_TRY(insert.BindOptional(kPlaceColumns + 4, rank));
  return Count(insert.Run());
}

Status LogRows::AddMessage(const LogPlace& place, std::string_view kind, std::string_view position,
                           uint64_t count, std::string_view text) {
  SqliteStatement& insert = statements_[kMessage];
  TRACEDB_TRY(BindPlace(insert, place));
  TRACEDB_TRY(insert.Bind(kPlaceColumns + 1, kind));
  TRACEDB_TRY(insert.Bind(kPlaceColumns + 2, position));
  TRACEDB_TRY(insert.Bind(kPlaceColumns + 3, static_cast<int64_t>(count)));
  TRACEDB_TRY(insert.Bind(kPlaceColumns + 4, text));
  return Count(insert.Run());
}

Status LogRows::AddSetting(const LogPlace& place, std::string_view kind, std::string_view name,
                           std::string_view value) {
  SqliteStatement& insert = statements_[kSetting];
  TRACEDB_TRY(BindPlace(insert, place));
  TRACEDB_TRY(insert.Bind(kPlaceColumns + 1, kind));
  TRACEDB_TRY(insert.Bind(kPlaceColumns + 2, name));
  TRACEDB_TRY(insert.BindTextOrNull(kPlaceColumns + 3, value));
  TRACEDB_TRY(insert.Bind(kPlaceColumns + 4, value));
  TRACEDB_TRY(insert.BindNull(kPlaceColumns + 5));
  return Count(insert.Run());
}

}  // namespace tracedb
