// What the pages of a database begin with: the report, and what `serve` shows.
#pragma once

#include <string>
#include <string_view>

namespace tracedb {

// From the doctype to the end of the head; `title` is escaped here, `metas` and `style` are as they
// stand. The icon is none, so that no browser asks for one. `style` comes after the report's own.
// `theme` is light, dark, or empty: as the reader's system has it.
std::string PageHead(std::string_view title, std::string_view metas, std::string_view style,
                     std::string_view theme = "");

}  // namespace tracedb
