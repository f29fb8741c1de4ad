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

// By the byte: what numbers are written with.
constexpr auto kOfNumbers = [] {
  std::array<bool, 256> is{};
  for (const char c : std::string_view("0123456789.E-+")) is[static_cast<unsigned char>(c)] = true;
  return is;
}();

// As SQLite keeps a number in a column of the type INTEGER.
void AddWholeOrReal(double value, RecordEncoder& record) {
  constexpr double kWholeMax = 9.0e18;  // beyond, a double is no int64_t
  const bool may_be_whole = value > -kWholeMax && value < kWholeMax;
  if (may_be_whole && value == static_cast<double>(static_cast<int64_t>(value))) {
    record.Int(static_cast<int64_t>(value));
  } else {
    record.Real(value);
  }
}

}  // namespace

std::span<const std::string_view> LogRows::Tables() {
  static constexpr std::array<std::string_view, kTables> kNames = {
      "_log_names",       "_log_iteration", "_log_evaluation", "_log_timer",
      "_log_timer_slice", "_log_memory",    "_log_argument",   "_log_event",
      "_log_straggler",   "_log_message",   "_job_setting"};
  return kNames;
}

void LogRows::Optional(const std::optional<int64_t>& value) {
  value ? record_.Int(*value) : record_.Null();
}

void LogRows::TextOrNull(std::string_view text) {
  text.empty() ? record_.Null() : record_.Text(text);
}

void LogRows::Begin(const LogPlace& place) {
  record_.Reset();
  record_.Int(rows_.source_id);
  record_.Int(static_cast<int64_t>(place.line));
  Optional(place.iteration);
  Optional(place.at_ns);
  Optional(place.after_ns);
  Optional(place.rank);
  TextOrNull(place.writer);
}

Status LogRows::End(Table table) {
  TRACEDB_TRY(rows_.pages->Append(table, ++last_rowids_[table], record_.Finish()));
  ++rows_.rows;
  return Done{};
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
  record_.Reset();
  record_.Int(rows_.source_id);
  record_.Int(id);
  record_.Text(names);
  TextOrNull(units);
  TRACEDB_TRY(rows_.pages->Append(kNames, ++last_rowids_[kNames], record_.Finish()));
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
    while (end < text.size() && kOfNumbers[static_cast<unsigned char>(text[end])]) ++end;
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

void LogRows::Numbers(const std::vector<LogPair>& pairs) {
  numbers_json_ = "[";
  for (const LogPair& pair : pairs) {
    if (numbers_json_.size() > 1) numbers_json_ += ',';
    AppendJsonValue(pair.value, numbers_json_);
  }
  numbers_json_ += ']';
  record_.Text(numbers_json_);
}

Status LogRows::AddIteration(const LogPlace& place, const LogHead& head,
                             const std::vector<LogPair>& pairs) {
  TRACEDB_ASSIGN(form, FormOf(pairs));
  Begin(place);
  Optional(head.iterations);
  for (size_t i = 0; i < std::size(form->columns); ++i) {
    const size_t column = form->columns[i];
    const auto of = static_cast<IterationColumn>(i);
    const bool is_seconds = form->has_seconds && of == IterationColumn::kElapsed;
    std::optional<double> value;
    if (column != 0) value = WholeNumberOf(pairs[column - 1].value, is_seconds ? 3 : 0);
    if (!value) {
      record_.Null();
    } else if (of < IterationColumn::kBatchSize) {
      record_.Real(*value);
    } else {
      AddWholeOrReal(*value, record_);
    }
  }
  record_.Int(form->id);
  Numbers(pairs);
  return End(kIteration);
}

Status LogRows::AddEvaluation(const LogPlace& place, std::string_view dataset,
                              const std::vector<LogPair>& pairs) {
  TRACEDB_ASSIGN(form, FormOf(pairs));
  Begin(place);
  TextOrNull(dataset);
  record_.Int(form->id);
  Numbers(pairs);
  return End(kEvaluation);
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
  Begin(place);
  record_.Int(static_cast<int64_t>(timers.form));
  record_.Int(last_timers_id_);
  record_.Text(numbers_json_);
  return End(kTimer);
}

Status LogRows::AddTimerSlice(const LogPlace& place, std::string_view name, int64_t ordinal,
                              int64_t start_ns, int64_t end_ns) {
  Begin(place);
  record_.Text(name);
  record_.Int(ordinal);
  record_.Int(start_ns);
  record_.Int(end_ns);
  return End(kTimerSlice);
}

Status LogRows::AddMemory(const LogPlace& place, std::string_view name, double mb) {
  Begin(place);
  record_.Text(name);
  record_.Real(mb);
  return End(kMemory);
}

Status LogRows::AddArgument(const LogPlace& place, std::string_view section, std::string_view name,
                            std::string_view value) {
  Begin(place);
  record_.Text(section);
  record_.Text(name);
  record_.Text(value);
  return End(kArgument);
}

Status LogRows::AddEvent(const LogPlace& place, std::string_view name, std::optional<int64_t> pid) {
  Begin(place);
  record_.Text(name);
  Optional(pid);
  return End(kEvent);
}

Status LogRows::AddStraggler(const LogPlace& place, std::string_view name, std::string_view value,
                             std::string_view unit, std::string_view of_rank) {
  Begin(place);
  record_.Text(name);
  const std::optional<double> number = LeadingNumber(value);
  number ? record_.Real(*number) : record_.NumberOrText(value);
  TextOrNull(unit);
  Optional(TakeLogNumber(of_rank));
  return End(kStraggler);
}

Status LogRows::AddMessage(const LogPlace& place, std::string_view kind, std::string_view position,
                           uint64_t count, std::string_view text) {
  Begin(place);
  record_.Text(kind);
  record_.Text(position);
  record_.Int(static_cast<int64_t>(count));
  record_.Text(text);
  return End(kMessage);
}

Status LogRows::AddSetting(const LogPlace& place, std::string_view kind, std::string_view name,
                           std::string_view value) {
  Begin(place);
  record_.Text(kind);
  record_.Text(name);
  TextOrNull(value);
  record_.Text(value);
  return End(kSetting);
}

}  // namespace tracedb
