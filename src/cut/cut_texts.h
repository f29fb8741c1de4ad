// The texts that events point at (names, tracks, texts of args), read as they are needed and
// kept while there is room: there may be more of them than fit into memory.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>

#include "tracedb/base/result.h"
#include "tracedb/base/sqlite_db.h"

namespace tracedb {

struct CutEventName {
  std::string name_json;
  std::optional<std::string> category;
  std::string category_json;
  bool gpu_activity = false;  // as the contract tells it: by the category
  bool sync = false;          // category cuda_sync
  bool step = false;          // a complete event of this name is a row of `step`
};

struct CutTrack {
  // As texts; empty where the event has none, or an empty one, as Kineto writes of instants.
  std::string pid, tid;
  std::string pid_json, tid_json;
  std::optional<std::string> stream;
};

struct CutArgsText {
  std::optional<std::string> args, others;  // with marks
  // Whether they are JSON with an integer in place of each mark, whichever it is.
  bool args_sound = false;
  bool others_sound = false;
};

// What says that an event points at a row that the database has not.
Error NotThere(std::string_view table, int64_t id);

// One table's rows by id. A pointer is good until the next Get; a row that is not there is an
// error: the database is damaged.
template <typename Row>
class RowCache {
 public:
  static Result<RowCache> Open(SqliteDb& db, const char* table, const char* columns) {
    RowCache cache;
    cache.table_ = table;
    const std::string sql = std::string("SELECT ") + columns + " FROM " + table + " WHERE id = ?1";
    TRACEDB_ASSIGN(select, db.Prepare(sql));
    cache.select_ = std::move(select);
    return cache;
  }

  Result<const Row*> Get(int64_t id) {
    constexpr size_t kBytesMax = 8u << 20;
    if (id == last_id_ && last_ != nullptr) return last_;
    auto found = rows_.find(id);
    if (found == rows_.end()) {
      if (bytes_ > kBytesMax) {
        rows_.clear();
        bytes_ = 0;
      }
      TRACEDB_TRY(select_->Bind(1, id));
      TRACEDB_ASSIGN(any, select_->Step());
      if (!any) return NotThere(table_, id);
      size_t bytes = kNodeBytes;
      Row row = Read(*select_, bytes);
      select_->Reset();  // a statement that stands on a row keeps tables from being dropped
      bytes_ += bytes;
      found = rows_.emplace(id, std::move(row)).first;
    }
    last_id_ = id;
    last_ = &found->second;
    return last_;
  }

 private:
  static constexpr size_t kNodeBytes = 64 + sizeof(Row);
  static Row Read(const SqliteStatement& select, size_t& bytes);  // adds to `bytes`

  std::optional<SqliteStatement> select_;
  const char* table_ = "";
  std::unordered_map<int64_t, Row> rows_;
  size_t bytes_ = 0;
  int64_t last_id_ = 0;
  const Row* last_ = nullptr;
};

// Three caches on one connection, which must live longer.
class CutTexts {
 public:
  static Result<CutTexts> Open(SqliteDb& db);

  Result<const CutEventName*> EventName(int64_t id) { return event_names_.Get(id); }
  Result<const CutTrack*> Track(int64_t id) { return tracks_.Get(id); }
  Result<const CutArgsText*> ArgsTextOf(int64_t id) { return args_texts_.Get(id); }

 private:
  CutTexts(RowCache<CutEventName> event_names, RowCache<CutTrack> tracks,
           RowCache<CutArgsText> args_texts)
      : event_names_(std::move(event_names)),
        tracks_(std::move(tracks)),
        args_texts_(std::move(args_texts)) {}

  RowCache<CutEventName> event_names_;
  RowCache<CutTrack> tracks_;
  RowCache<CutArgsText> args_texts_;
};

// A process or thread as JSON: a number where the text is just how a number is written.
std::string IdJson(const std::string& text);

// Whether two texts are the same but for the case of ASCII letters.
bool EqualsInAnyCase(std::string_view a, std::string_view b);

}  // namespace tracedb
