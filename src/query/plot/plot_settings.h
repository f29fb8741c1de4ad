// What the surroundings say about a plot: the line's width, and which characters can be shown.
#pragma once

#include <cstddef>

namespace tracedb {

// $COLUMNS, within 20 and 1000; 80 when it is no number. nullptr: it is not set.
size_t WidthFromText(const char* columns);

// Whether the locale is UTF-8: by the first of LC_ALL, LC_CTYPE and LANG that says something.
bool IsUtf8Locale(const char* lc_all, const char* lc_ctype, const char* lang);

// The terminal's width where `descriptor` is one and tells it, else that of $COLUMNS.
size_t LineWidth(int descriptor);

// IsUtf8Locale of the environment.
bool ShowsUnicode();

}  // namespace tracedb
