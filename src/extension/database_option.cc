#include "tracedb/extension/database_option.h"

#include <sqlite3.h>

#include <cstdlib>
#include <filesystem>
#include <string>
#include <string_view>
#include <system_error>

#include "tracedb/base/no_memory.h"
#include "tracedb/base/run_caught.h"

namespace tracedb {
namespace {

namespace fs = std::filesystem;

std::string ForShell(const std::string& text) {
  constexpr std::string_view kPlain =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_./+,:@%-";
  if (!text.starts_with('-') && text.find_first_not_of(kPlain) == text.npos) return text;
  std::string quoted = "'";
  for (const char c : text) quoted += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return quoted + "'";
}

// As from here where it lies below here: that is what was typed, most often.
std::string OptionOf(const fs::path& file) {
  std::error_code error;
  const char* given = std::getenv("TRACEDB_DB");
  const fs::path usual = given != nullptr && *given != '\0' ? given : "trace.db";
  if (file.empty() || fs::equivalent(file, usual, error)) return "";
  const fs::path here = fs::current_path(error);
  ThrowIfNoMemory(error);
  const fs::path below = error ? fs::path() : file.lexically_relative(here);
  const bool is_below = !below.empty() && *below.begin() != "..";
  return " --db " + ForShell((is_below ? below : file).string());
}

void Give(sqlite3_context* context, int, sqlite3_value**) {
  const char* file = sqlite3_db_filename(sqlite3_context_db_handle(context), "main");
  std::string option;
  const Status status = RunCaught([&]() -> Status {
    option = OptionOf(file == nullptr ? "" : file);
    return Done{};
  });
  if (!status.ok()) return sqlite3_result_error(context, status.error().what.c_str(), -1);
  sqlite3_result_text64(context, option.data(), option.size(), SQLITE_TRANSIENT, SQLITE_UTF8);
}

}  // namespace

Status RegisterDatabaseOption(SqliteDb& db) {
  if (sqlite3_create_function(db.handle(), "database_option", 0, SQLITE_UTF8, nullptr, Give,
                              nullptr, nullptr) != SQLITE_OK) {
    return SqliteError(db.handle(), "");
  }
  return Done{};
}

}  // namespace tracedb
