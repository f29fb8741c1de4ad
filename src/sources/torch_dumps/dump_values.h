// What PyTorch has dumped, as a pickle or as JSON, in memory.
#pragma once

#include <optional>
#include <string_view>

#include "sources/values/plain_values.h"
#include "tracedb/base/result.h"
#include "tracedb/sources/read/source_reader.h"

namespace tracedb {

// The value of the whole file; what broke off is counted as an issue.
Result<ValueId> ReadDump(SourceText& text, SourceRows& rows, PlainValues& values);

// Whether a file that begins so is a pickle of a dictionary, or a JSON object.
bool IsPickledDict(std::string_view text);
bool IsJsonObject(std::string_view text);

// Without its folders.
std::string_view FileName(std::string_view path);

// Of the keys of `dict` all but `known`, as a JSON object; null: there are no others. What is too
// long is counted, and null.
std::optional<std::string> OthersOf(SourceRows& rows, const PlainValues& values, ValueId dict,
                                    std::initializer_list<std::string_view> known);

}  // namespace tracedb
