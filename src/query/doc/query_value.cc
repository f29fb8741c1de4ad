#include "query/doc/query_value.h"

#include <fmt/format.h>

#include <charconv>
#include <cmath>
#include <optional>
#include <system_error>

#include "tracedb/text/result_text.h"

namespace tracedb {
namespace {

// "+5" is a number to people, but not to from_chars; "+-5" is one to neither.
std::string_view WithoutPlus(std::string_view text) {
  const bool plus = text.size() > 1 && text[0] == '+' && text[1] != '-';
  return plus ? text.substr(1) : text;
}

template <typename Number>
std::optional<Number> WholeNumber(std::string_view text) {
  text = WithoutPlus(text);
  Number number{};
  const char* end = text.data() + text.size();
  const auto [stop, code] = std::from_chars(text.data(), end, number);
  if (code != std::errc() || stop != end || text.empty()) return std::nullopt;
  return number;
}

// from_chars also takes "inf" and "nan", which SQL has no words for.
std::optional<double> FiniteReal(std::string_view text) {
  const auto real = WholeNumber<double>(text);
  return real.has_value() && std::isfinite(*real) ? real : std::nullopt;
}

QueryValue IntegerValue(int64_t integer) { return {SqlType::kInteger, integer, 0, {}}; }
QueryValue RealValue(double real) { return {SqlType::kReal, 0, real, {}}; }
QueryValue TextValue(std::string_view text) { return {SqlType::kText, 0, 0, std::string(text)}; }

Error NoValue(std::string_view text, std::string_view wanted) {
  return Error{ErrorKind::kUsage, fmt::format("'{}' is no {}", ShownText(text), wanted), ""};
}

}  // namespace

Result<QueryValue> ParseValueAs(DocType type, std::string_view text) {
  switch (type) {
    case DocType::kText:
      return TextValue(text);
    case DocType::kInteger:
      if (const auto integer = WholeNumber<int64_t>(text)) return IntegerValue(*integer);
      return NoValue(text, "integer");
    case DocType::kReal:
      if (const auto real = FiniteReal(text)) return RealValue(*real);
      return NoValue(text, "number");
    case DocType::kBool:
      if (text == "1" || text == "true" || text == "yes") return IntegerValue(1);
      if (text == "0" || text == "false" || text == "no") return IntegerValue(0);
      return NoValue(text, "bool (true or false)");
  }
  return NoValue(text, "value");
}

QueryValue ParseValueByLooks(std::string_view text) {
  if (const auto integer = WholeNumber<int64_t>(text)) return IntegerValue(*integer);
  if (const auto real = FiniteReal(text)) return RealValue(*real);
  return TextValue(text);
}

Status BindValue(SqliteStatement& statement, int parameter, const QueryValue& value) {
  switch (value.type) {
    case SqlType::kInteger:
      return statement.Bind(parameter, value.integer);
    case SqlType::kReal:
      return statement.Bind(parameter, value.real);
    case SqlType::kText:
    case SqlType::kBlob:
      return statement.Bind(parameter, std::string_view(value.text));
    case SqlType::kNull:
      break;
  }
  return statement.BindNull(parameter);
}

}  // namespace tracedb
