#include "tracedb/derive/derive_names.h"

#include <string>

namespace tracedb {
namespace {

// The trace's metadata events of one name, with the key of the args that matters.
std::string NamedSql(const std::string& event, const std::string& key, const std::string& trace) {
  return "SELECT t.pid, t.tid, json_extract(a.args, '$." + key +
         "') AS value, max(m.id) "
         "FROM _metadata_event m JOIN _track t ON t.id = m.track JOIN _event_name l ON l.id = "
         "m.event_name "
         "JOIN _args_text a ON a.id = m.args_text "
         "WHERE l.name = '" +
         event + "' AND json_valid(a.args) AND t.trace_id = " + trace + " ";
}

}  // namespace

Status DeriveNames(SqliteDb& db, int64_t trace_id) {
  const std::string trace = std::to_string(trace_id);
  // Of several names for one process or thread the last one in the file counts.
  TRACEDB_TRY(db.Execute("INSERT INTO _process SELECT " + trace +
                         ", t.rank, t.pid, n.value, s.value, l.value "
                         "FROM (SELECT DISTINCT pid, rank FROM _track WHERE trace_id = " +
                         trace +
                         ") t "
                         "LEFT JOIN (" +
                         NamedSql("process_name", "name", trace) +
                         "GROUP BY t.pid) n USING (pid) "
                         "LEFT JOIN (" +
                         NamedSql("process_sort_index", "sort_index", trace) +
                         "GROUP BY t.pid) s USING (pid) "
                         "LEFT JOIN (" +
                         NamedSql("process_labels", "labels", trace) +
                         "GROUP BY t.pid) l USING (pid) "
                         "ORDER BY t.pid"));
  return db.Execute("INSERT INTO _thread SELECT " + trace +
                    ", t.rank, t.pid, t.tid, n.value, s.value "
                    "FROM (SELECT DISTINCT pid, tid, rank FROM _track WHERE trace_id = " +
                    trace +
                    ") t "
                    "LEFT JOIN (" +
                    NamedSql("thread_name", "name", trace) +
                    "GROUP BY t.pid, t.tid) n USING (pid, tid) "
                    "LEFT JOIN (" +
                    NamedSql("thread_sort_index", "sort_index", trace) +
                    "GROUP BY t.pid, t.tid) s USING (pid, tid) "
                    "ORDER BY t.pid, t.tid");
}

}  // namespace tracedb
