#include "tracedb/query/run/query_arguments.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include "query/doc/query_value.h"
#include "tracedb/text/near_name.h"
#include "tracedb/text/number_ranges.h"
#include "tracedb/text/result_text.h"

namespace tracedb {
namespace {

// The key of -p for a parameter: without ':', '@', '$' or '?', or its number if it has no name.
std::string KeyOf(const SqliteStatement& statement, int parameter) {
  const std::string_view name = statement.ParameterName(parameter);
  return name.empty() ? std::to_string(parameter) : std::string(name.substr(1));
}

// "3..1", also in a list.
bool IsDownwards(std::string_view text) {
  while (!text.empty()) {
    const std::string_view part = text.substr(0, text.find(','));
    text.remove_prefix(std::min(part.size() + 1, text.size()));
    const size_t dots = part.find("..");
    if (dots == std::string_view::npos || ParseRange(part).has_value()) continue;
    const std::string turned = fmt::format("{}..{}", part.substr(dots + 2), part.substr(0, dots));
    if (ParseRange(turned).has_value()) return true;
  }
  return false;
}

class Arguments {
 public:
  Arguments(std::span<SqliteStatement> statements, const QueryDoc& doc)
      : statements_(statements), doc_(doc) {
    for (const SqliteStatement& statement : statements) {
      for (int i = 1; i <= statement.ParameterCount(); ++i) keys_.insert(KeyOf(statement, i));
    }
    for (const QueryParam& param : doc.params) keys_.insert(param.name);
  }

  Status Read(std::span<const std::string> params);
  Status BindAll() const;

 private:
  Error Wrong(std::string what, std::string advice = "") const;
  Error Unknown(std::string_view key) const;
  Result<QueryValue> ValueOf(const std::string& key) const;
  Result<QueryValue> Given(const std::string& key, const std::string& text) const;
  Result<QueryValue> ListOf(const std::string& key, const std::vector<NumberRange>& ranges) const;

  std::span<SqliteStatement> statements_;
  const QueryDoc& doc_;
  std::set<std::string> keys_;
  std::map<std::string, std::string> given_;
};

Error Arguments::Wrong(std::string what, std::string advice) const {
  std::vector<std::string> described;
  for (const QueryParam& param : doc_.params) described.push_back(DescribeParam(param));
  for (const std::string& key : keys_) {
    if (doc_.FindParam(key) == nullptr) described.push_back(key);
  }
  if (!advice.empty()) advice += advice.ends_with("?") ? " " : "; ";
  advice += described.empty() ? "it has no parameters"
                              : "its parameters are: " + JoinNames(described, "; ");
  return Error{ErrorKind::kUsage, fmt::format("{}: {}", doc_.name, what), std::move(advice)};
}

Error Arguments::Unknown(std::string_view key) const {
  const std::vector<std::string> near =
      NearNames(key, std::vector<std::string>(keys_.begin(), keys_.end()));
  return Wrong(fmt::format("there is no parameter '{}'", ShownText(key)), DidYouMean(near));
}

Status Arguments::Read(std::span<const std::string> params) {
  for (const std::string& param : params) {
    const size_t equals = param.find('=');
    if (equals == std::string::npos || equals == 0) {
      return Wrong(fmt::format("'{}' is no parameter with a value", ShownText(param)),
                   "write it as: -p name=value");
    }
    std::string key = param.substr(0, equals);
    // As the SQL writes it is as good.
    if (key.size() > 1 && (key[0] == ':' || key[0] == '@' || key[0] == '$')) key.erase(0, 1);
    if (!keys_.contains(key)) return Unknown(key);
    if (!given_.emplace(key, param.substr(equals + 1)).second) {
      return Wrong(fmt::format("the parameter '{}' is given twice", key));
    }
  }
  return Done{};
}

Result<QueryValue> Arguments::ValueOf(const std::string& key) const {
  const QueryParam* param = doc_.FindParam(key);
  const auto given = given_.find(key);
  if (given == given_.end()) {
    if (param == nullptr || !param->default_text.has_value()) {
      return Wrong(fmt::format("the parameter '{}' is missing", key),
                   fmt::format("give it with: -p {}=VALUE", key));
    }
    if (param->default_is_null) return QueryValue();
    return ParseValueAs(param->type, *param->default_text);
  }
  return Given(key, given->second);
}

Result<QueryValue> Arguments::Given(const std::string& key, const std::string& text) const {
  const QueryParam* param = doc_.FindParam(key);
  if (text == "null") return QueryValue();
  // Of SQL without a header "1,2" may be a text; "1..2" is a list to whoever writes it.
  const bool may_be_list =
      param != nullptr ? param->type == DocType::kInteger : text.find("..") != std::string::npos;
  const auto ranges = may_be_list ? ParseRanges(text) : std::nullopt;
  if (ranges.has_value() && (ranges->size() > 1 || ranges->front().first != ranges->front().second))
    return ListOf(key, *ranges);
  if (may_be_list && IsDownwards(text)) {
    return Wrong(fmt::format("-p {}: '{}' goes downwards", key, ShownText(text)),
                 "a range goes upwards, as 1..3 does");
  }
  if (param == nullptr) return ParseValueByLooks(text);
  auto value = ParseValueAs(param->type, text);
  if (!value.ok()) return Wrong(fmt::format("-p {}: {}", key, value.error().what));
  return value;
}

Result<QueryValue> Arguments::ListOf(const std::string& key,
                                     const std::vector<NumberRange>& ranges) const {
  const QueryParam* param = doc_.FindParam(key);
  if (param == nullptr || !param->takes_list) {
    return Wrong(fmt::format("-p {}: it takes one value, not a list", key));
  }
  auto json = RangesAsJson(ranges);
  if (!json.has_value()) {
    return Wrong(fmt::format("-p {}: the list has more than {} values", key, kListedNumbersMax));
  }
  return QueryValue{SqlType::kText, 0, 0, *std::move(json)};
}

Status Arguments::BindAll() const {
  // All of them, also those that no statement uses: a wrong value is wrong in any case.
  std::map<std::string, QueryValue> values;
  for (const std::string& key : keys_) {
    TRACEDB_ASSIGN(value, ValueOf(key));
    values.emplace(key, std::move(value));
  }
  for (SqliteStatement& statement : statements_) {
    for (int i = 1; i <= statement.ParameterCount(); ++i) {
      TRACEDB_TRY(BindValue(statement, i, values.at(KeyOf(statement, i))));
    }
  }
  return Done{};
}

}  // namespace

Status BindArguments(std::span<SqliteStatement> statements, const QueryDoc& doc,
                     std::span<const std::string> params) {
  Arguments arguments(statements, doc);
  TRACEDB_TRY(arguments.Read(params));
  return arguments.BindAll();
}

}  // namespace tracedb
