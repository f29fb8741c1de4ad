// A database without a trace, as each trace's own file begins: all tables, no views. SQLite makes
// it when the program is built, as running the schema's SQL takes longer than reading a small
// trace.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace tracedb {

struct EmptyDatabase {
  // Few enough pages to write fast, small enough for a look-up of one row.
  static constexpr uint32_t kPageBytes = 16384;

  struct Part {
    uint64_t offset;
    std::string_view bytes;
  };

  // How long its file is.
  static uint64_t bytes();
  // What of its file is not zero, in the order of the file.
  static std::span<const Part> parts();
  // The root pages of these tables and indexes.
  static std::vector<uint32_t> RootPages(const std::vector<std::string>& names);
};

}  // namespace tracedb
