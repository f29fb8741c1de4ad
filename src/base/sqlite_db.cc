#include "tracedb/base/sqlite_db.h"

#include <sqlite3.h>

#include <algorithm>
#include <cctype>
#include <limits>
#include <new>

#include "base/sqlite_advice.h"
#include "base/sqlite_memory.h"
#include "base/sqlite_open.h"
#include "tracedb/base/run_caught.h"
#include "tracedb/base/safe_sum.h"

namespace tracedb {
namespace {

// The authorizer that RestrictToReading installs: what is not plainly reading is refused.
int AllowReadingOnly(void*, int action, const char* first, const char* second, const char*,
                     const char*) {
  switch (action) {
    case SQLITE_SELECT:
    case SQLITE_READ:
    case SQLITE_RECURSIVE:
      return SQLITE_OK;
    case SQLITE_FUNCTION: {  // the two that do more than compute
      const std::string_view name = second == nullptr ? "" : second;
      return name == "load_extension" || name == "fts3_tokenizer" ? SQLITE_DENY : SQLITE_OK;
    }
    case SQLITE_UPDATE:
      // SQLite asks this when a table-valued function (json_each, pragma_table_info) is first used,
      // and then writes nothing. A real UPDATE of the schema needs PRAGMA writable_schema.
      return first != nullptr && std::string_view(first) == "sqlite_master" ? SQLITE_OK
                                                                            : SQLITE_DENY;
    case SQLITE_PRAGMA: {
      // Table-valued pragmas and those that only tell something; an argument is a table's name.
      constexpr std::string_view kTelling[] = {
          "table_info",    "table_xinfo",    "table_list",     "index_list",      "index_info",
          "index_xinfo",   "database_list",  "page_size",      "page_count",      "application_id",
          "user_version",  "encoding",       "quick_check",    "integrity_check", "compile_options",
          "function_list", "freelist_count", "schema_version", "data_version"};
      const std::string_view name = first == nullptr ? "" : first;
      const bool takes_a_name = name.ends_with("_info") || name.ends_with("_xinfo") ||
                                name.ends_with("_list") || name.ends_with("_check");
      for (std::string_view telling : kTelling) {
        if (name == telling && (second == nullptr || takes_a_name)) return SQLITE_OK;
      }
      return SQLITE_DENY;
    }
    default:
      return SQLITE_DENY;
  }
}

}  // namespace

void PrepareSqliteForIngest() {
  constexpr unsigned kPages = 64;
  sqlite3_config(SQLITE_CONFIG_PMASZ, kPages);
}

// SQLite takes "file:x" for a URI and ":memory:" for no file; a path in a folder is neither.
std::string SqliteUri(const std::filesystem::path& path, std::string_view settings) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  const std::string name = path.string();
  // With a host of no name before it: of a path that begins with // the first part would be one.
  std::string uri = name.starts_with('/') ? "file://" : "file:";
  for (const char c : name) {
    const auto byte = static_cast<unsigned char>(c);
    if (std::isalnum(byte) != 0 || c == '/' || c == '.' || c == '_' || c == '-') {
      uri += c;
    } else {
      uri += '%';
      uri += kDigits[byte >> 4];
      uri += kDigits[byte & 15];
    }
  }
  return uri.append("?").append(settings);
}

std::string SqliteFileName(const std::filesystem::path& path) {
  const bool special = path.string().starts_with("file:") || path.string().starts_with(":");
  return special ? "./" + path.string() : path.string();
}

bool EndsStatement(const std::string& sql) { return sqlite3_complete(sql.c_str()) == 1; }

Error SqliteError(sqlite3* db, std::string_view where) {
  const int code = db == nullptr ? SQLITE_NOMEM : sqlite3_errcode(db);
  if ((code & 0xff) == SQLITE_NOMEM) return OutOfMemory();
  std::string what(where);
  const char* const file = sqlite3_db_filename(db, "main");
  const int primary = code & 0xff;
  const bool about_sql = primary == SQLITE_ERROR || primary == SQLITE_AUTH ||
                         primary == SQLITE_RANGE || primary == SQLITE_MISMATCH ||
                         primary == SQLITE_TOOBIG || primary == SQLITE_INTERRUPT;
  if (what.empty() && !about_sql && file != nullptr) what = file;
  if (!what.empty()) what += ": ";
  what += sqlite3_errmsg(db);
  return Error{about_sql ? ErrorKind::kQuery : ErrorKind::kOutput, what,
               AdviceAfter(code, db == nullptr ? 0 : sqlite3_system_errno(db))};
}

void SqliteStatement::Finalize::operator()(sqlite3_stmt* statement) const {
  sqlite3_finalize(statement);
}

void SqliteDb::Close::operator()(sqlite3* db) const {
  if (!is_borrowed) sqlite3_close_v2(db);
}

namespace {
Status Checked(sqlite3_stmt* statement, int code) {
  if (code == SQLITE_OK) return Done{};
  return SqliteError(sqlite3_db_handle(statement), "");
}
}  // namespace

Status SqliteStatement::Bind(int parameter, int64_t value) {
  return Checked(statement_.get(), sqlite3_bind_int64(statement_.get(), parameter, value));
}

Status SqliteStatement::Bind(int parameter, double value) {
  return Checked(statement_.get(), sqlite3_bind_double(statement_.get(), parameter, value));
}

Status SqliteStatement::Bind(int parameter, std::string_view text) {
  const char* data = text.data() == nullptr ? "" : text.data();
  return Checked(statement_.get(), sqlite3_bind_text64(statement_.get(), parameter, data,
                                                       text.size(), SQLITE_TRANSIENT, SQLITE_UTF8));
}

Status SqliteStatement::BindNull(int parameter) {
  return Checked(statement_.get(), sqlite3_bind_null(statement_.get(), parameter));
}

Status SqliteStatement::BindColumnOf(int parameter, const SqliteStatement& other, int column) {
  return Checked(statement_.get(),
                 sqlite3_bind_value(statement_.get(), parameter,
                                    sqlite3_column_value(other.statement_.get(), column)));
}

namespace {
// What is committed stands, whatever SQLite had to do it without.
bool HasCommitted(sqlite3_stmt* statement, int code) {
  const char* const sql = sqlite3_sql(statement);
  return code == SQLITE_DONE && sql != nullptr && sqlite3_strnicmp(sql, "COMMIT", 6) == 0;
}
}  // namespace

Result<bool> SqliteStatement::Step() {
  if (done_) return false;  // SQLite itself would begin anew
  const uint64_t refused = RefusedSqlitePieces();
  const int code = sqlite3_step(statement_.get());
  if (RefusedSqlitePieces() != refused && !HasCommitted(statement_.get(), code)) {
    return OutOfMemory();
  }
  if (code == SQLITE_ROW) return true;
  if (code == SQLITE_DONE) {
    done_ = true;
    return false;
  }
  return SqliteError(sqlite3_db_handle(statement_.get()), "");
}

Status SqliteStatement::Run() {
  for (bool more = true; more;) {
    auto step = Step();
    if (!step.ok()) return std::move(step).error();
    more = step.value();
  }
  Reset();
  return Done{};
}

void SqliteStatement::Reset() {
  sqlite3_reset(statement_.get());
  done_ = false;
}

int SqliteStatement::ColumnCount() const { return sqlite3_column_count(statement_.get()); }

std::string_view SqliteStatement::ColumnName(int column) const {
  const char* name = sqlite3_column_name(statement_.get(), column);
  return name == nullptr ? std::string_view() : std::string_view(name);
}

SqlType SqliteStatement::Type(int column) const {
  switch (sqlite3_column_type(statement_.get(), column)) {
    case SQLITE_INTEGER:
      return SqlType::kInteger;
    case SQLITE_FLOAT:
      return SqlType::kReal;
    case SQLITE_TEXT:
      return SqlType::kText;
    case SQLITE_BLOB:
      return SqlType::kBlob;
    default:
      return SqlType::kNull;
  }
}

std::optional<int64_t> SqliteStatement::OptionalInt(int column) const {
  return Type(column) == SqlType::kNull ? std::nullopt : std::optional(Int(column));
}

std::optional<std::string> SqliteStatement::OptionalText(int column) const {
  return Type(column) == SqlType::kNull ? std::nullopt : std::optional(std::string(Text(column)));
}

int64_t SqliteStatement::Int(int column) const {
  return sqlite3_column_int64(statement_.get(), column);
}

double SqliteStatement::Real(int column) const {
  return sqlite3_column_double(statement_.get(), column);
}

std::string_view SqliteStatement::Text(int column) const {
  const auto* text = reinterpret_cast<const char*>(sqlite3_column_text(statement_.get(), column));
  if (text == nullptr) {
    // No text is NULL, or could not be made: then the row does not say what it says.
    sqlite3* const db = sqlite3_db_handle(statement_.get());
    if (sqlite3_errcode(db) == SQLITE_NOMEM) throw std::bad_alloc();
    return {};
  }
  return {text, static_cast<size_t>(sqlite3_column_bytes(statement_.get(), column))};
}

int SqliteStatement::ParameterCount() const {
  return sqlite3_bind_parameter_count(statement_.get());
}

std::string_view SqliteStatement::ParameterName(int parameter) const {
  const char* name = sqlite3_bind_parameter_name(statement_.get(), parameter);
  return name == nullptr ? std::string_view() : std::string_view(name);
}

bool SqliteStatement::IsReadOnly() const { return sqlite3_stmt_readonly(statement_.get()) != 0; }

bool SqliteStatement::IsExplain() const { return sqlite3_stmt_isexplain(statement_.get()) != 0; }

std::string SqliteStatement::Sql() const {
  const char* sql = sqlite3_sql(statement_.get());
  return sql == nullptr ? "" : sql;
}

Result<SqliteDb> SqliteDb::Open(const std::filesystem::path& path, SqliteMode mode,
                                const char* vfs) {
  LetSqliteOpenFilesOnly();
  int flags = SQLITE_OPEN_NOMUTEX;
  std::string name = SqliteFileName(path);
  switch (mode) {
    case SqliteMode::kReadOnly:
      flags |= SQLITE_OPEN_READONLY;
      break;
    case SqliteMode::kFrozen:
      flags |= SQLITE_OPEN_READONLY | SQLITE_OPEN_URI;
      name = SqliteUri(path, "immutable=1");
      break;
    case SqliteMode::kReadWrite:
      flags |= SQLITE_OPEN_READWRITE;
      break;
    case SqliteMode::kCreate:
      flags |= SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE;
      break;
  }
  SqliteDb db(nullptr, path);  // the path's copy may throw, when no connection is there to be lost
  sqlite3* raw = nullptr;
  const int code = sqlite3_open_v2(name.c_str(), &raw, flags, vfs);
  db.db_.reset(raw);
  if (code != SQLITE_OK) return SqliteError(raw, path.string());
  sqlite3_extended_result_codes(raw, 0);
  if (RegisterSafeSum(raw) != SQLITE_OK) return SqliteError(raw, path.string());
  return db;
}

SqliteDb SqliteDb::Borrow(sqlite3* db) { return SqliteDb(db, "", true); }

Result<SqliteDb> SqliteDb::OpenInMemory() { return Open("", SqliteMode::kCreate); }

Result<std::vector<uint8_t>> SqliteDb::Bytes() {
  sqlite3_int64 size = 0;
  const std::unique_ptr<unsigned char, void (*)(void*)> bytes(
      sqlite3_serialize(db_.get(), "main", &size, 0), sqlite3_free);
  if (bytes == nullptr) return SqliteError(nullptr, path_.string());
  return std::vector<uint8_t>(bytes.get(), bytes.get() + size);
}

Status SqliteDb::Execute(std::string_view sql) {
  while (!sql.empty()) {
    sqlite3_stmt* raw = nullptr;
    const char* tail = nullptr;
    const int length = static_cast<int>(std::min<size_t>(sql.size(), 1u << 30));
    if (sqlite3_prepare_v2(db_.get(), sql.data(), length, &raw, &tail) != SQLITE_OK) {
      return SqliteError(db_.get(), path_.string());
    }
    sql.remove_prefix(static_cast<size_t>(tail - sql.data()));
    if (raw == nullptr) continue;
    SqliteStatement statement(raw);
    for (bool more = true; more;) {
      auto step = statement.Step();
      if (!step.ok()) {
        const int code = sqlite3_errcode(db_.get());
        // Memory that a function did not miss is no error of the connection.
        const bool is_ours = code == SQLITE_ROW || code == SQLITE_DONE;
        return is_ours ? std::move(step).error() : SqliteError(db_.get(), path_.string());
      }
      more = step.value();
    }
  }
  return Done{};
}

Result<SqliteStatement> SqliteDb::Prepare(std::string_view sql, std::string_view* rest) {
  if (sql.size() > static_cast<size_t>(std::numeric_limits<int>::max())) {
    return Error{ErrorKind::kQuery, "the SQL text is over 2 GB", ""};
  }
  sqlite3_stmt* raw = nullptr;
  const char* tail = nullptr;
  if (sqlite3_prepare_v2(db_.get(), sql.data(), static_cast<int>(sql.size()), &raw, &tail) !=
      SQLITE_OK) {
    return SqliteError(db_.get(), "");
  }
  if (rest != nullptr) *rest = sql.substr(static_cast<size_t>(tail - sql.data()));
  if (raw == nullptr) return Error{ErrorKind::kQuery, "there is no SQL statement to run", ""};
  return SqliteStatement(raw);
}

Result<int64_t> SqliteDb::Integer(std::string_view sql) {
  TRACEDB_ASSIGN(statement, Prepare(sql));
  TRACEDB_ASSIGN(row, statement.Step());
  return row ? statement.Int(0) : 0;
}

int SqliteDb::ErrorOffset() const { return sqlite3_error_offset(db_.get()); }

void SqliteDb::AllowDoubleQuotedText(bool allow) {
  sqlite3_db_config(db_.get(), SQLITE_DBCONFIG_DQS_DML, allow ? 1 : 0, nullptr);
}

void SqliteDb::SetBusyTimeout(int timeout_ms, const std::atomic<bool>* stop) {
  busy_wait_->tries_max = timeout_ms / BusyWait::kMsEach;
  busy_wait_->stop = stop;
  sqlite3_busy_handler(
      db_.get(),
      [](void* wait, int tries) {
        const auto& busy = *static_cast<const BusyWait*>(wait);
        if (tries >= busy.tries_max || (busy.stop != nullptr && busy.stop->load())) return 0;
        sqlite3_sleep(BusyWait::kMsEach);
        return 1;
      },
      busy_wait_.get());
}

Status SqliteDb::Distrust(int value_bytes_max) {
  sqlite3_limit(db_.get(), SQLITE_LIMIT_LENGTH, value_bytes_max);
  sqlite3_limit(db_.get(), SQLITE_LIMIT_ATTACHED, 0);
  sqlite3_limit(db_.get(), SQLITE_LIMIT_TRIGGER_DEPTH, 1);
  sqlite3_db_config(db_.get(), SQLITE_DBCONFIG_DEFENSIVE, 1, nullptr);
  sqlite3_db_config(db_.get(), SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, nullptr);
  sqlite3_db_config(db_.get(), SQLITE_DBCONFIG_ENABLE_TRIGGER, 0, nullptr);
  sqlite3_db_config(db_.get(), SQLITE_DBCONFIG_ENABLE_VIEW, 0, nullptr);
  return Execute("PRAGMA cell_size_check = ON; PRAGMA mmap_size = 0; PRAGMA query_only = ON");
}

void SqliteDb::RestrictToReading() {
  sqlite3_limit(db_.get(), SQLITE_LIMIT_LENGTH, 64 << 20);  // SELECT hex(zeroblob(1e9))
  sqlite3_set_authorizer(db_.get(), AllowReadingOnly, nullptr);
}

void SqliteDb::StopWhen(const std::atomic<bool>& stop) {
  constexpr int kOperationsBetween = 10'000;
  sqlite3_progress_handler(
      db_.get(), kOperationsBetween,
      [](void* flag) { return static_cast<const std::atomic<bool>*>(flag)->load() ? 1 : 0; },
      const_cast<std::atomic<bool>*>(&stop));
}

void SqliteDb::StopIf(std::function<bool()> asked) {
  constexpr int kOperationsBetween = 10'000;
  if (!asked) {
    sqlite3_progress_handler(db_.get(), 0, nullptr, nullptr);
    return;
  }
  stop_if_ = std::make_unique<std::function<bool()>>(std::move(asked));
  sqlite3_progress_handler(
      db_.get(), kOperationsBetween,
      [](void* function) { return (*static_cast<std::function<bool()>*>(function))() ? 1 : 0; },
      stop_if_.get());
}

void SqliteDb::Interrupt() { sqlite3_interrupt(db_.get()); }

}  // namespace tracedb
