// A database without a trace, as each trace's own file begins: all tables, no views. SQLite makes
// it when the program is built, as running the schema's SQL takes longer than reading a small
// trace. So is what else is alike in all new databases: their views and rules.
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

  // A finished database's views, each as the row of sqlite_schema that SQLite would make of it.
  struct View {
    std::string_view name;
    std::string_view sql;
  };
  static std::span<const View> views();

  // The rows of kind_rules and of parallelism_rules.
  struct Rule {
    std::string_view pattern;
    std::string_view word;  // the kind, or what the communicator is for
  };
  static std::span<const Rule> kind_rules();
  static std::span<const Rule> parallelism_rules();
};

}  // namespace tracedb
