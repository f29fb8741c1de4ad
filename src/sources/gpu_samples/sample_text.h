// Words, numbers and local times as the tools that sample GPUs write them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sources/read/text_words.h"

namespace tracedb {

// Without the escape sequences that colour a terminal.
std::string WithoutEscapes(std::string_view line);

// What stands between `separator`s, without the blanks around it; views of `line`.
void SplitAt(std::string_view line, char separator, std::vector<std::string_view>& cells);
// What stands between blanks and commas: dmon writes either.
void SplitWords(std::string_view line, std::vector<std::string_view>& words);

// A decimal number that is all of `text`.
std::optional<double> DecimalNumber(std::string_view text);

// Times without a zone are nanoseconds since 1970 as if they were of UTC. All of `text` must be
// one.
std::optional<int64_t> SlashTime(std::string_view text);    // 2026/11/22 00:49:49.285
std::optional<int64_t> CompactDate(std::string_view text);  // 20261122: its midnight
std::optional<int64_t> TimeOfDay(std::string_view text);    // 00:49:49, since midnight
// Anywhere in `text`, in English: "Sun Nov 22 00:49:49 2026", "Sun 22 Nov 2026 12:49:49 AM". Sets
// `at` to where it begins.
std::optional<int64_t> CalendarTime(std::string_view text, size_t& at);

}  // namespace tracedb
