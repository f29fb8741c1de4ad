#include "sources/settings/settings_lines.h"

#include <algorithm>
#include <span>
#include <utility>

#include "sources/logs/log_arguments.h"
#include "sources/logs/log_line.h"

namespace tracedb {
namespace {

struct ShortOption {
  char letter;
  std::string_view name;
};
constexpr ShortOption kSbatchOptions[] = {
    {'N', "nodes"},      {'n', "ntasks"},        {'p', "partition"}, {'J', "job-name"},
    {'o', "output"},     {'e', "error"},         {'t', "time"},      {'A', "account"},
    {'q', "qos"},        {'c', "cpus-per-task"}, {'w', "nodelist"},  {'G', "gpus"},
    {'C', "constraint"}, {'x', "exclude"},       {'D', "chdir"},     {'d', "dependency"},
    {'a', "array"}};
constexpr ShortOption kPbsOptions[] = {
    {'q', "queue"}, {'A', "account"}, {'N', "job-name"}, {'k', "keep"},      {'o', "output"},
    {'e', "error"}, {'j', "join"},    {'M', "mail"},     {'m', "mail-when"}, {'V', "environment"}};

std::string_view LongName(char letter, std::span<const ShortOption> options) {
  for (const ShortOption& option : options) {
    if (option.letter == letter) return option.name;
  }
  return {};
}

std::string_view Unquoted(std::string_view text) {
  const bool is_quoted = text.size() > 1 && (text.front() == '"' || text.front() == '\'') &&
                         text.back() == text.front();
  return is_quoted ? text.substr(1, text.size() - 2) : text;
}

// The next option's word; quotes may hold blanks, and a remark ends all.
std::string_view TakeOption(std::string_view& options) {
  options = TrimBlanks(options);
  const std::string_view word = ShellWord(options);
  options = TrimBlanks(options.substr(word.size()));
  if (word.starts_with('#')) options = {};
  return word.starts_with('#') ? std::string_view() : word;
}

}  // namespace

bool IsDirective(std::string_view line) {
  for (const std::string_view word : {"#SBATCH", "#PBS"}) {
    if (!line.starts_with(word) || line.size() <= word.size()) continue;
    const std::string_view rest = line.substr(word.size());
    const std::string_view options = TrimBlanks(rest);
    const bool has_blank = rest.front() == ' ' || rest.front() == '\t';
    if (has_blank && options.size() > 1 && options.front() == '-') return true;
  }
  return false;
}

bool SplitVariable(std::string_view line, std::string_view& name, std::string_view& written) {
  line = TrimBlanks(line);
  if (line.starts_with("export ")) line = TrimBlanks(line.substr(7));
  const size_t equals = line.find('=');
  if (equals == std::string_view::npos || equals == 0) return false;
  name = line.substr(0, equals);
  const bool is_name = std::all_of(name.begin(), name.end(), [](char c) {
    return (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
  });
  if (!is_name || (name.front() >= '0' && name.front() <= '9')) return false;
  written = line.substr(equals + 1);
  return true;
}

bool IsOnlyAVariable(std::string_view written) {
  const std::string_view rest = TrimBlanks(written.substr(ShellWord(written).size()));
  return rest.empty() || rest.starts_with('#') || rest == ";";
}

size_t CountBars(std::string_view line) {
  return static_cast<size_t>(std::count(line.begin(), line.end(), '|'));
}

bool IsSacctHeader(std::string_view line) {
  if (CountBars(line) < 2 || !line.starts_with("JobID")) return false;
  const bool are_names = std::all_of(line.begin(), line.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '|';
  });
  return are_names && (line.find("|State") != std::string_view::npos ||
                       line.find("|JobName") != std::string_view::npos ||
                       line.find("|Elapsed") != std::string_view::npos);
}

Result<std::unique_ptr<SettingsLines>> SettingsLines::Make(SourceRows& rows) {
  TRACEDB_ASSIGN(insert, rows.db->Prepare("INSERT INTO _job_setting(source_id, line, kind, name, "
                                          "value, written, item) VALUES (?, ?, ?, ?, ?, ?, ?)"));
  return std::unique_ptr<SettingsLines>(new SettingsLines(rows, std::move(insert)));
}

Status SettingsLines::Add(std::string_view kind, std::string_view name,
                          std::optional<std::string_view> value, std::string_view written,
                          std::string_view item) {
  if (IsSecretName(name)) {
    value.reset();
    written = "(not copied)";
  }
  TRACEDB_TRY(insert_.Bind(1, rows_.source_id));
  TRACEDB_TRY(insert_.Bind(2, static_cast<int64_t>(number_)));
  TRACEDB_TRY(insert_.Bind(3, kind));
  TRACEDB_TRY(insert_.Bind(4, name));
  TRACEDB_TRY(value && !value->empty() ? insert_.Bind(5, *value) : insert_.BindNull(5));
  TRACEDB_TRY(insert_.Bind(6, written));
  TRACEDB_TRY(item.empty() ? insert_.BindNull(7) : insert_.Bind(7, item));
  TRACEDB_TRY(insert_.Run());
  ++rows_.rows;
  return Done{};
}

Status SettingsLines::Take(std::string_view line, uint64_t number, uint64_t offset) {
  number_ = number;
  if (number == 1 && IsSacctHeader(line)) {
    while (true) {
      const size_t bar = line.find('|');
      columns_.emplace_back(line.substr(0, bar));
      if (bar == std::string_view::npos) return Done{};
      line.remove_prefix(bar + 1);
    }
  }
  if (!columns_.empty()) return TakeSacct(line, offset);
  if (IsDirective(line)) {
    const bool is_sbatch = line.starts_with("#SBATCH");
    const std::string_view options = TrimBlanks(line.substr(is_sbatch ? 7 : 4));
    return is_sbatch ? TakeSbatch(options) : TakePbs(options);
  }
  std::string_view name, written;
  if (!line.starts_with('#') && SplitVariable(line, name, written) && IsOnlyAVariable(written)) {
    return TakeVariable(name, ShellWord(written));
  }
  return Done{};
}

// "--nodes=8", "--nodes 8", "-N 8", "-N8", "--exclusive".
Status SettingsLines::TakeSbatch(std::string_view options) {
  while (!options.empty()) {
    const std::string_view word = TakeOption(options);
    if (!word.starts_with('-') || word.size() < 2) continue;
    std::string_view name, value;
    if (word.starts_with("--")) {
      name = word.substr(2, word.find('=') - 2);
      if (const size_t equals = word.find('='); equals != std::string_view::npos) {
        name = word.substr(2, equals - 2);
        value = word.substr(equals + 1);
      } else if (!options.empty() && !options.starts_with('-')) {
        value = TakeOption(options);
      }
    } else {
      name = LongName(word[1], kSbatchOptions);
      if (name.empty()) name = word.substr(1, 1);
      value = word.size() > 2 ? word.substr(word[2] == '=' ? 3 : 2) : TakeOption(options);
    }
    TRACEDB_TRY(Add("sbatch", name, Unquoted(value), word));
  }
  return Done{};
}

Status SettingsLines::TakePbs(std::string_view options) {
  while (!options.empty()) {
    const std::string_view word = TakeOption(options);
    if (!word.starts_with('-') || word.size() < 2) continue;
    std::string_view value = word.substr(2);
    if (value.empty() && !options.empty() && !options.starts_with('-')) value = TakeOption(options);
    if (word[1] == 'l') {
      TRACEDB_TRY(TakeResources(value));
      continue;
    }
    std::string_view name = LongName(word[1], kPbsOptions);
    if (name.empty()) name = word.substr(1, 1);
    TRACEDB_TRY(Add("pbs", name, Unquoted(value), word));
  }
  return Done{};
}

// "select=2:ngpus=4,walltime=00:05:00".
Status SettingsLines::TakeResources(std::string_view list) {
  while (!list.empty()) {
    const std::string_view one = list.substr(0, list.find(','));
    list.remove_prefix(std::min(one.size() + 1, list.size()));
    const size_t equals = one.find('=');
    const std::string_view value =
        equals == std::string_view::npos ? std::string_view() : one.substr(equals + 1);
    TRACEDB_TRY(Add("pbs", one.substr(0, equals), Unquoted(value), one));
  }
  return Done{};
}

Status SettingsLines::TakeVariable(std::string_view name, std::string_view written) {
  const std::optional<std::string> value = ShellValue(written, variables_);
  if (value && variables_.size() < kVariablesMax) {
    variables_.insert_or_assign(std::string(name), *value);
  } else if (const auto known = variables_.find(name); known != variables_.end()) {
    variables_.erase(known);  // what it was before is not what it is now
  }
  return Add("variable", name, value ? std::optional<std::string_view>(*value) : std::nullopt,
             written);
}

Status SettingsLines::TakeSacct(std::string_view line, uint64_t offset) {
  if (line.empty()) return Done{};
  if (CountBars(line) + 1 != columns_.size()) {
    rows_.issues.Add("half_line", offset, line);
    return Done{};
  }
  const std::string_view item = line.substr(0, line.find('|'));
  for (const std::string& column : columns_) {
    const std::string_view cell = line.substr(0, line.find('|'));
    line.remove_prefix(std::min(cell.size() + 1, line.size()));
    if (!column.empty()) TRACEDB_TRY(Add("sacct", column, cell, cell, item));
  }
  return Done{};
}

}  // namespace tracedb
