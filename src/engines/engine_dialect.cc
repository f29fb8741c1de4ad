#include "engines/engine_dialect.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>

namespace tracedb {
namespace {

constexpr std::string_view kUncut =
    "a rank's time is not cut into steps, as it has thousands of streams. Ask that rank's own "
    "database.";

bool IsNameChar(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }

// Where the text, comment or quoted name that begins at `at` ends; `at` where none begins.
size_t SkipQuoted(std::string_view sql, size_t at) {
  if (sql[at] == '\'' || sql[at] == '"' || sql[at] == '`') {
    const size_t end = sql.find(sql[at], at + 1);
    return end == sql.npos ? sql.size() : end + 1;
  }
  if (sql.substr(at, 2) == "/*") {
    const size_t end = sql.find("*/", at + 2);
    return end == sql.npos ? sql.size() : end + 2;
  }
  return at;
}

// The arguments of the call whose bracket opens at `at`, which is moved to after the closing one.
std::vector<std::string_view> SplitArguments(std::string_view sql, size_t& at) {
  std::vector<std::string_view> arguments;
  size_t start = ++at;
  for (int depth = 0; at < sql.size(); ++at) {
    const size_t next = SkipQuoted(sql, at);
    if (next != at) {
      at = next - 1;
      continue;
    }
    if (sql[at] == '(') ++depth;
    const bool is_end = sql[at] == ')' && depth == 0;
    if (sql[at] == ')') --depth;
    if (!is_end && (sql[at] != ',' || depth > 0)) continue;
    if (at > start || !arguments.empty()) arguments.push_back(sql.substr(start, at - start));
    start = at + 1;
    if (is_end) break;
  }
  at = std::min(at + 1, sql.size());
  return arguments;
}

std::string Trimmed(const std::string& text) {
  const size_t start = text.find_first_not_of(" \n");
  return start == text.npos ? "" : text.substr(start, text.find_last_not_of(" \n") - start + 1);
}

std::string UtcText(Engine engine, const std::string& seconds) {
  switch (engine) {
    case Engine::kSpark:
      return fmt::format(
          "date_format(to_utc_timestamp(timestamp_seconds({}), current_timezone()), "
          "'yyyy-MM-dd HH:mm:ss')",
          seconds);
    case Engine::kDuckDb:
      return fmt::format("strftime(make_timestamp(({}) * 1000000), '%Y-%m-%d %H:%M:%S')", seconds);
    case Engine::kClickHouse:
      return fmt::format("formatDateTime(toDateTime64({}, 0, 'UTC'), '%Y-%m-%d %H:%i:%S')",
                         seconds);
  }
  return "";
}

// Of "2026-11-23T11:03:19Z".
std::string Epoch(Engine engine, const std::string& time) {
  switch (engine) {
    case Engine::kSpark:
      return fmt::format("unix_seconds(CAST({} AS TIMESTAMP))", time);
    case Engine::kDuckDb:
      return fmt::format("CAST(epoch(CAST(rtrim({}, 'Z') AS TIMESTAMP)) AS BIGINT)", time);
    case Engine::kClickHouse:
      return fmt::format("toInt64(toUnixTimestamp(parseDateTimeBestEffortOrNull({}, 'UTC')))",
                         time);
  }
  return "";
}

// As SQLite casts a text: the number at its start, else 0.
std::string TextInt(Engine engine, const std::string& text) {
  const std::string digits = EngineExtract(engine, text, "^ *([+-]?[0-9]+)");
  const std::string number = engine == Engine::kClickHouse ? "toInt64OrNull(" + digits + ")"
                                                           : "try_cast(" + digits + " AS BIGINT)";
  return fmt::format("CASE WHEN {} IS NOT NULL THEN coalesce({}, 0) END", text, number);
}

// Halves go away from 0; ClickHouse's own go to what is even.
std::string RoundInt(Engine engine, const std::string& value) {
  const std::string whole = engine == Engine::kClickHouse
                                ? fmt::format("(sign({0}) * floor(abs({0}) + 0.5))", value)
                                : fmt::format("round({})", value);
  return EngineCast(engine, whole, EngineType::kInteger);
}

std::string EachInt(Engine engine, const std::string& json) {
  switch (engine) {
    case Engine::kSpark:
      return fmt::format("explode(from_json({}, 'array<bigint>'))", json);
    case Engine::kDuckDb:
      return fmt::format("unnest(from_json({}, '[\"BIGINT\"]'))", json);
    case Engine::kClickHouse:
      return fmt::format("arrayJoin(JSONExtract(ifNull({}, '[]'), 'Array(Int64)'))", json);
  }
  return "";
}

}  // namespace

std::string EngineText(Engine engine, std::string_view text) {
  std::string quoted = "'";
  for (const char c : text) {
    const bool is_escaped = engine != Engine::kDuckDb && (c == '\\' || c == '\'');
    if (is_escaped) quoted += '\\';
    if (engine == Engine::kDuckDb && c == '\'') quoted += '\'';
    quoted += c;
  }
  return quoted + "'";
}

std::string EngineName(Engine engine, std::string_view name) {
  const char quote = engine == Engine::kDuckDb ? '"' : '`';
  std::string quoted(1, quote);
  for (const char c : name) quoted += c == quote ? std::string(2, quote) : std::string(1, c);
  return quoted + quote;
}

std::string_view EngineTypeName(Engine engine, EngineType type) {
  if (engine == Engine::kClickHouse) {
    return type == EngineType::kInteger ? "Nullable(Int64)"
           : type == EngineType::kReal  ? "Nullable(Float64)"
                                        : "Nullable(String)";
  }
  if (type == EngineType::kInteger) return "BIGINT";
  if (type == EngineType::kReal) return "DOUBLE";
  return engine == Engine::kSpark ? "STRING" : "VARCHAR";
}

std::string EngineCast(Engine engine, const std::string& value, EngineType type) {
  return fmt::format("CAST({} AS {})", value, EngineTypeName(engine, type));
}

std::string EngineExtract(Engine engine, const std::string& text, std::string_view pattern) {
  const std::string quoted = EngineText(engine, pattern);
  if (engine == Engine::kClickHouse) return fmt::format("extract({}, {})", text, quoted);
  return fmt::format("regexp_extract({}, {}, 1)", text, quoted);
}

std::string EngineReplaceAny(Engine engine, const std::string& text, std::string_view class_of,
                             std::string_view with) {
  const std::string pattern = EngineText(engine, fmt::format("[{}]", class_of));
  const std::string value = EngineText(engine, with);
  switch (engine) {
    case Engine::kSpark:
      return fmt::format("regexp_replace({}, {}, {})", text, pattern, value);
    case Engine::kDuckDb:
      return fmt::format("regexp_replace({}, {}, {}, 'g')", text, pattern, value);
    case Engine::kClickHouse:
      return fmt::format("replaceRegexpAll({}, {}, {})", text, pattern, value);
  }
  return "";
}

std::string EngineGuard(Engine engine, const std::string& is_wrong, std::string_view text,
                        const std::string& column) {
  const std::string quoted = EngineText(engine, text);
  switch (engine) {
    case Engine::kSpark:
      // raise_error() is no function of its row for Spark, whose optimizer then fails on WITH of
      // several levels: a pattern that is none is an error with the pattern in it.
      return fmt::format("CASE WHEN {} THEN '' RLIKE concat('*', {}, {}) ELSE true END", is_wrong,
                         quoted, column);
    case Engine::kDuckDb:
      return fmt::format("CASE WHEN {} THEN error({}) IS NOT NULL ELSE true END", is_wrong, quoted);
    case Engine::kClickHouse:
      return fmt::format("throwIf({}, {}) = 0", is_wrong, quoted);
  }
  return "";
}

std::optional<std::string> EngineCall(Engine engine, std::string_view name,
                                      std::span<const std::string> arguments) {
  if (name == "NO_INT") return EngineCast(engine, "NULL", EngineType::kInteger);
  if (name == "NO_REAL") return EngineCast(engine, "NULL", EngineType::kReal);
  if (name == "NO_TEXT") return EngineCast(engine, "NULL", EngineType::kText);
  if (arguments.empty()) return std::nullopt;
  const std::string& first = arguments[0];
  const bool is_click_house = engine == Engine::kClickHouse;
  if (name == "INT_DIV" && arguments.size() == 2) {
    if (is_click_house) return fmt::format("intDiv({}, {})", first, arguments[1]);
    return fmt::format("(({}) {} {})", first, engine == Engine::kSpark ? "DIV" : "//",
                       arguments[1]);
  }
  if ((name == "LARGER" || name == "SMALLER") && arguments.size() == 2) {
    return fmt::format(
        "CASE WHEN ({0}) IS NULL OR ({1}) IS NULL THEN NULL WHEN ({0}) {2} ({1}) "
        "THEN {0} ELSE {1} END",
        first, arguments[1], name == "LARGER" ? '>' : '<');
  }
  if (name == "SUB_TEXT") {
    return fmt::format("{}({})", is_click_house ? "substringUTF8" : "substring",
                       fmt::join(arguments, ", "));
  }
  if (name == "TEXT_LENGTH") {
    return fmt::format("{}({})", is_click_house ? "lengthUTF8" : "length", first);
  }
  if (name == "TEXT_INT") return TextInt(engine, first);
  if (name == "ROUND_INT") return RoundInt(engine, first);
  if (name == "UTC_TEXT") return UtcText(engine, first);
  if (name == "EPOCH") return Epoch(engine, first);
  if (name == "IS_CUT" && arguments.size() == 2) {
    return EngineGuard(engine, first + " IS NULL", kUncut,
                       EngineCast(engine, arguments[1], EngineType::kText));
  }
  if (name == "EACH_INT") return EachInt(engine, first);
  return std::nullopt;
}

std::string ReplaceCallsInSql(std::string_view sql, const CallWriter& write) {
  std::string text;
  for (size_t at = 0; at < sql.size();) {
    const size_t quoted = SkipQuoted(sql, at);
    if (quoted != at) {
      text += sql.substr(at, quoted - at);
      at = quoted;
      continue;
    }
    if (!IsNameChar(sql[at])) {
      text += sql[at++];
      continue;
    }
    size_t end = at;
    while (end < sql.size() && IsNameChar(sql[end])) ++end;
    const std::string_view name = sql.substr(at, end - at);
    const bool is_call =
        end < sql.size() && sql[end] == '(' && std::none_of(name.begin(), name.end(), [](char c) {
          return std::islower(static_cast<unsigned char>(c)) != 0;
        });
    at = end;
    if (!is_call) {
      text += name;
      continue;
    }
    std::vector<std::string> arguments;
    for (const std::string_view argument : SplitArguments(sql, end)) {
      arguments.push_back(Trimmed(ReplaceCallsInSql(argument, write)));
    }
    const std::optional<std::string> written = write(name, arguments);
    if (written.has_value()) {
      text += *written;
      at = end;
    } else {
      text += name;
    }
  }
  return text;
}

}  // namespace tracedb
