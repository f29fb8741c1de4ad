#include "cli_changes.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <optional>
#include <string_view>

#include "tracedb/text/near_name.h"
#include "tracedb/text/result_text.h"

namespace tracedb {
namespace {

const std::vector<std::string> kWords = {"name",  "rank",  "step",      "kind",   "rank-late",
                                         "waits", "slice", "transfers", "held-by"};

Error BadCondition(std::string_view option, std::string_view text, std::string_view why) {
  return Error{ErrorKind::kUsage, fmt::format("{} {}: {}", option, ShownText(text), why),
               "such as name=aten::mm, name LIKE %gemm%, name=x and rank=3, rank-late=5, "
               "transfers=data, waits=sync, recorder; see: tracedb what-if --help"};
}

std::string_view Trimmed(std::string_view text) {
  while (!text.empty() && text.front() == ' ') text.remove_prefix(1);
  while (!text.empty() && text.back() == ' ') text.remove_suffix(1);
  return text;
}

bool SameWord(std::string_view a, std::string_view b) {
  return std::ranges::equal(
      a, b, [](unsigned char x, unsigned char y) { return std::tolower(x) == std::tolower(y); });
}

struct Condition {
  std::string word;
  std::string how;  // "=", "LIKE", "GLOB"
  std::string value;
};

// "name LIKE %gemm%"; none where it does not begin as a condition does.
std::optional<Condition> ReadCondition(std::string_view text) {
  text = Trimmed(text);
  const size_t end = text.find_first_of(" =");
  if (end == 0 || end == text.npos) return std::nullopt;
  Condition condition{std::string(text.substr(0, end)), "", ""};
  std::string_view rest = Trimmed(text.substr(end));
  for (const std::string_view how : {"=", "LIKE ", "GLOB "}) {
    if (!SameWord(rest.substr(0, how.size()), how)) continue;
    condition.how = Trimmed(how);
    std::string_view value = Trimmed(rest.substr(how.size()));
    const bool is_quoted =
        value.size() >= 2 && value.front() == value.back() && value.front() == '\'';
    if (is_quoted) value = value.substr(1, value.size() - 2);
    condition.value = value;
    return condition;
  }
  return std::nullopt;
}

// At " and ", where a condition follows: names may have it in them.
std::vector<std::string_view> SplitConditions(std::string_view text) {
  constexpr std::string_view kAnd = " and ";
  std::vector<std::string_view> parts;
  size_t begin = 0;
  for (size_t at = 0; at + kAnd.size() <= text.size(); ++at) {
    if (!SameWord(text.substr(at, kAnd.size()), kAnd)) continue;
    const auto next = ReadCondition(text.substr(at + kAnd.size()));
    if (!next.has_value() || std::ranges::find(kWords, next->word) == kWords.end()) continue;
    parts.push_back(text.substr(begin, at - begin));
    begin = at + kAnd.size();
  }
  parts.push_back(text.substr(begin));
  return parts;
}

bool IsInteger(std::string_view text) {
  int64_t number = 0;
  const auto read = std::from_chars(text.data(), text.data() + text.size(), number);
  return read.ec == std::errc() && read.ptr == text.data() + text.size();
}

std::optional<double> ReadFactor(std::string_view text) {
  double factor = 0;
  const auto read = std::from_chars(text.data(), text.data() + text.size(), factor);
  const bool is_whole = read.ec == std::errc() && read.ptr == text.data() + text.size();
  if (!is_whole || !std::isfinite(factor) || factor < 0 || factor > 1e6) return std::nullopt;
  return factor;
}

class ChangeWriter {
 public:
  Status Add(std::string_view option, std::string_view text, std::optional<double> factor) {
    if (Trimmed(text).empty()) return BadCondition(option, text, "what is missing");
    std::string object;
    if (SameWord(Trimmed(text), "sync")) text = "waits=sync";
    bool is_of_something = false;
    bool is_recorder = false;  // its factor is said with it
    const size_t names_before = changes_.names.size();
    std::string rank, step;
    for (const std::string_view part : SplitConditions(text)) {
      if (SameWord(Trimmed(part), "recorder") && !is_of_something) {
        object += fmt::format(",\"recorder\":{}", factor.value_or(0));
        is_of_something = is_recorder = true;
        continue;
      }
      TRACEDB_TRY(AddCondition(option, text, part, object));
      const auto [word, how, value] = *ReadCondition(part);
      is_of_something = is_of_something || (word != "rank" && word != "step");
      if (word == "rank") rank = value;
      if (word == "step") step = value;
    }
    for (size_t i = names_before; i < changes_.names.size(); ++i) {
      changes_.names[i].rank = rank;
      changes_.names[i].step = step;
    }
    if (!is_of_something) {
      return BadCondition(option, text,
                          "what of it? name=X, kind=compute; or rank-late=N for all "
                          "that takes longer on a rank than on others");
    }
    if (factor.has_value() && !is_recorder) object += fmt::format(",\"factor\":{}", *factor);
    AddObject(object.substr(1));
    return Done{};
  }

  void AddObject(const std::string& object) {
    changes_.json += (changes_.json.empty() ? "[{" : ",{") + object + "}";
  }

  Result<JobChanges> Take() {
    if (changes_.json.empty()) {
      return Error{ErrorKind::kUsage,
                   "what is to be changed? --without, --scale, --network, --launch-latency or "
                   "--balance is wanted",
                   "such as: tracedb what-if --without 'name=aten::mm'"};
    }
    changes_.json += "]";
    return std::move(changes_);
  }

 private:
  Status AddCondition(std::string_view option, std::string_view all, std::string_view part,
                      std::string& object) {
    const auto condition = ReadCondition(part);
    if (!condition.has_value()) {
      return BadCondition(option, all,
                          fmt::format("this is no condition; name={}?", ShownText(part)));
    }
    const auto& [word, how, value] = *condition;
    if (std::ranges::find(kWords, word) == kWords.end()) {
      const auto near = NearNames(word, kWords);
      return BadCondition(option, all,
                          fmt::format("'{}' is not known{}{}", ShownText(word),
                                      near.empty() ? "" : "; ", DidYouMean(near)));
    }
    if (value.empty()) return BadCondition(option, all, word + " of what?");
    if (how != "=" && word != "name") return BadCondition(option, all, how + " is for names");
    const bool is_number =
        word == "rank" || word == "step" || word == "rank-late" || word == "slice";
    if (is_number && !IsInteger(value))
      return BadCondition(option, all, word + ": a number is wanted");
    if (word == "name") changes_.names.push_back({how, value, "", ""});
    if (word == "held-by") changes_.names.push_back({"=", value, "", ""});
    if (word == "rank" || word == "rank-late") changes_.ranks.push_back(value);
    std::string key = word == "rank-late" ? "rank_late" : word == "held-by" ? "held_by" : word;
    if (how == "LIKE") key = "like";
    if (how == "GLOB") key = "glob";
    object += fmt::format(",\"{}\":", key);
    if (is_number) {
      object += std::to_string(std::stoll(value));
    } else {
      AppendJsonText(object, value);
    }
    return Done{};
  }

  JobChanges changes_;
};

Status AddScale(ChangeWriter& writer, const std::string& text) {
  const size_t at = text.rfind('=');
  const auto factor = at == text.npos ? std::nullopt : ReadFactor(text.substr(at + 1));
  if (!factor.has_value()) {
    return BadCondition("--scale", text, "how much? it ends with a factor: --scale 'name=x=0.5'");
  }
  return writer.Add("--scale", std::string_view(text).substr(0, at), factor);
}

Status AddLaunchLatency(ChangeWriter& writer, const std::string& text) {
  constexpr std::array<std::pair<std::string_view, double>, 3> kUnits = {
      {{"ns", 1}, {"us", 1e3}, {"ms", 1e6}}};
  std::string_view number = text;
  double unit = 0;
  for (const auto& [name, ns] : kUnits) {
    if (!number.ends_with(name)) continue;
    number.remove_suffix(name.size());
    unit = ns;
    break;
  }
  const auto value = ReadFactor(Trimmed(number));
  if (!value.has_value() || (unit == 0 && *value != 0)) {
    return Error{
        ErrorKind::kUsage,
        fmt::format("--launch-latency {}: a time is wanted: 0, 500ns, 2us", ShownText(text)),
        "see: tracedb what-if --help"};
  }
  writer.AddObject(fmt::format("\"launch_latency_ns\":{}", std::llround(*value * unit)));
  return Done{};
}

}  // namespace

Result<JobChanges> ReadChanges(const WhatIfArguments& arguments) {
  ChangeWriter writer;
  for (const std::string& text : arguments.without) {
    TRACEDB_TRY(writer.Add("--without", text, std::nullopt));
  }
  for (const std::string& text : arguments.scale) TRACEDB_TRY(AddScale(writer, text));
  if (!arguments.network.empty()) {
    const auto times = arguments.network == "inf" ? 0 : ReadFactor(arguments.network);
    if (!times.has_value() || (*times == 0 && arguments.network != "inf")) {
      return Error{ErrorKind::kUsage,
                   fmt::format("--network {}: how many times as fast: 2, 0.5 or inf",
                               ShownText(arguments.network)),
                   "see: tracedb what-if --help"};
    }
    writer.AddObject(fmt::format("\"transfers\":\"all\",\"factor\":{}",
                                 *times == 0 ? 0 : std::min(1 / *times, 1e6)));
  }
  if (!arguments.launch_latency.empty()) {
    TRACEDB_TRY(AddLaunchLatency(writer, arguments.launch_latency));
  }
  if (!arguments.balance.empty()) {
    writer.AddObject(fmt::format("\"balance\":\"{}\"", arguments.balance));
  }
  return writer.Take();
}

}  // namespace tracedb
