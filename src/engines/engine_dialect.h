// What Spark, DuckDB and ClickHouse have different words for.
#pragma once

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "engines/engine_sql.h"
#include "tracedb/base/result.h"

namespace tracedb {

enum class EngineType { kInteger, kReal, kText };

std::string EngineText(Engine engine, std::string_view text);  // in quotes
std::string EngineName(Engine engine, std::string_view name);  // of a column, in quotes
std::string_view EngineTypeName(Engine engine, EngineType type);
std::string EngineCast(Engine engine, const std::string& value, EngineType type);
// What `pattern` has in its one pair of brackets; '' where it is not found.
std::string EngineExtract(Engine engine, const std::string& text, std::string_view pattern);
std::string EngineReplaceAny(Engine engine, const std::string& text, std::string_view class_of,
                             std::string_view with);
// A condition that ends the query with this text where `is_wrong` holds, and holds itself.
// `column`: a text that is never NULL, of the table that is guarded.
std::string EngineGuard(Engine engine, const std::string& is_wrong, std::string_view text,
                        const std::string& column);

// A call in capitals -> the engine's words; nullopt: the name is none of these calls.
std::optional<std::string> EngineCall(Engine engine, std::string_view name,
                                      std::span<const std::string> arguments);

// `sql` with every call NAME(...), of a name in capitals, replaced by what `write` makes of it,
// the innermost first; where that gives nothing, it stays.
using CallWriter = std::function<std::optional<std::string>(
    std::string_view name, std::span<const std::string> arguments)>;
std::string ReplaceCallsInSql(std::string_view sql, const CallWriter& write);

}  // namespace tracedb
