#include "tracedb/derive/derive_names.h"

#include <array>
#include <string>
#include <string_view>

namespace tracedb {
namespace {

// What `from` says of a process, or of a thread: pid, tid, which of `namings`, value.
template <size_t kCount>
std::string NamedSql(const std::array<NamingEvent, kCount>& namings, bool of_threads,
                     const std::string& from) {
  std::string which = "CASE l.name ";
  std::string value = "CASE l.name ";
  std::string names;
  for (size_t i = 0; i < kCount; ++i) {
    const std::string name = "'" + std::string(namings[i].event) + "'";
    which += "WHEN " + name + " THEN " + std::to_string(i) + " ";
    value +=
        "WHEN " + name + " THEN json_extract(a.args, '$." + std::string(namings[i].key) + "') ";
    names += (i > 0 ? ", " : "") + name;
  }
  return "SELECT t.pid, " + std::string(of_threads ? "t.tid" : "''") + ", " + which + "END, " +
         value + "END FROM " + from +
         " m JOIN _track t ON t.id = m.track "
         "JOIN _event_name l ON l.id = m.event_name JOIN _args_text a ON a.id = m.args_text "
         "WHERE l.name IN (" +
         names + ") AND json_valid(a.args) ORDER BY 1, 2, m.id";
}

// The table that has the last naming of each track, where all of these were noted and say
// something. Else the table of all metadata events, of which SQL looks for the last that does.
Result<std::string> NamingRows(SqliteDb& db, const TraceNamings& namings) {
  const std::string all = "_metadata_event";
  if (!namings.complete()) return all;
  TRACEDB_ASSIGN(valid, db.Prepare("SELECT json_valid(args) FROM _args_text WHERE id = ?1"));
  TRACEDB_TRY(
      db.Execute("CREATE TEMP TABLE last_naming (id INTEGER PRIMARY KEY, track INTEGER, "
                 "event_name INTEGER, args_text INTEGER)"));
  TRACEDB_ASSIGN(insert, db.Prepare("INSERT INTO temp.last_naming VALUES (?1, ?2, ?3, ?4)"));
  for (const auto& [key, last] : namings.lasts()) {
    TRACEDB_TRY(valid.Bind(1, last.args_text));
    TRACEDB_ASSIGN(any, valid.Step());
    const bool is_valid = any && valid.Int(0) != 0;
    valid.Reset();
    if (!is_valid) return all;
    TRACEDB_TRY(insert.Bind(1, last.id));
    TRACEDB_TRY(insert.Bind(2, key.first));
    TRACEDB_TRY(insert.Bind(3, key.second));
    TRACEDB_TRY(insert.Bind(4, last.args_text));
    TRACEDB_TRY(insert.Run());
  }
  return std::string("temp.last_naming");
}

// Writes a row for each of `places` (pid, tid, rank), with what `named` says of it. Both come in
// the order of pid and tid, so that one row of each is enough to know.
Status Store(SqliteStatement& places, SqliteStatement& named, SqliteStatement& insert,
             size_t namings, int first_parameter) {
  TRACEDB_ASSIGN(any, named.Step());
  for (;;) {
    TRACEDB_ASSIGN(row, places.Step());
    if (!row) return Done{};
    const std::string_view pid = places.Text(0);
    const std::string_view tid = places.Text(1);
    for (size_t i = 0; i < namings; ++i) {
      TRACEDB_TRY(insert.BindNull(first_parameter + static_cast<int>(i)));
    }
    // Of several names the last one in the file counts.
    while (any && named.Text(0) == pid && named.Text(1) == tid) {
      TRACEDB_TRY(insert.BindColumnOf(first_parameter + static_cast<int>(named.Int(2)), named, 3));
      TRACEDB_ASSIGN(more, named.Step());
      any = more;
    }
    TRACEDB_TRY(insert.BindColumnOf(2, places, 2));
    TRACEDB_TRY(insert.BindColumnOf(3, places, 0));
    if (first_parameter > 4) TRACEDB_TRY(insert.BindColumnOf(4, places, 1));
    TRACEDB_TRY(insert.Run());
  }
}

}  // namespace

Status DeriveNames(SqliteDb& db, int64_t trace_id, const TraceNamings& namings) {
  TRACEDB_ASSIGN(from, NamingRows(db, namings));
  {
    TRACEDB_ASSIGN(places, db.Prepare("SELECT DISTINCT pid, '', rank FROM _track ORDER BY 1"));
    TRACEDB_ASSIGN(named, db.Prepare(NamedSql(kProcessNamings, false, from)));
    TRACEDB_ASSIGN(insert, db.Prepare("INSERT INTO _process VALUES (?1, ?2, ?3, ?4, ?5, ?6)"));
    TRACEDB_TRY(insert.Bind(1, trace_id));
    TRACEDB_TRY(Store(places, named, insert, kProcessNamings.size(), 4));
  }
  TRACEDB_ASSIGN(places, db.Prepare("SELECT DISTINCT pid, tid, rank FROM _track ORDER BY 1, 2"));
  TRACEDB_ASSIGN(named, db.Prepare(NamedSql(kThreadNamings, true, from)));
  TRACEDB_ASSIGN(insert, db.Prepare("INSERT INTO _thread VALUES (?1, ?2, ?3, ?4, ?5, ?6)"));
  TRACEDB_TRY(insert.Bind(1, trace_id));
  return Store(places, named, insert, kThreadNamings.size(), 5);
}

}  // namespace tracedb
