// Which columns hold ids of a trace's own file: RenumberRows() must know all of them. By the names
// that the schema gives them.

#include "ingest/load/row_numbers.h"

#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <set>
#include <string>

#include "ingest/build/empty_rows.h"
#include "tracedb/base/sqlite_db.h"

namespace tracedb {
namespace {

// What the schema calls ids of a trace, of rows, of texts and of call paths.
const std::map<std::string, char> kIds = {
    {"trace_id", 't'},   {"run_id", 't'},          {"capture_id", 't'}, {"first_row", 'r'},
    {"last_row", 'r'},   {"launch_slice_id", 'r'}, {"first_id", 'r'},   {"last_id", 'r'},
    {"start_id", 'r'},   {"end_id", 'r'},          {"first_text", 'x'}, {"last_text", 'x'},
    {"track", 'x'},      {"event_name", 'x'},      {"args_text", 'x'},  {"op", 'x'},
    {"forward_op", 'x'}, {"kernel", 'x'},          {"path_id", 'p'},    {"forward_path_id", 'p'},
    {"parent_id", 'p'}};

// There a capture is one of a graph, which has the id of the call that began it.
const std::set<std::string> kOfGraphs = {"_captured_launch", "_captured_call"};

// Tables in which a trace's own file has no row: they are filled when it has landed, or when
// databases are gathered; or they are of the files that are no traces.
bool IsFilledLater(const std::string& table) {
  static const std::set<std::string> kLater = {
      "_collective_cause", "_explained_trace", "_clock",       "_clock_pair", "_graph",
      "_graph_replay",     "_graph_change",    "_graph_trace", "_step_last"};
  for (const char* of_source :
       {"_source", "_log", "_job", "_ncu", "_inspector", "_gpu_sample", "_gpu_moment", "_dump",
        "_memory_segment", "_memory_block", "_memory_trace", "_memory_snapshot", "_memory_category",
        "_flight"}) {
    if (table.starts_with(of_source)) return true;
  }
  return kLater.contains(table);
}

class RowNumbersTest : public testing::Test {
 protected:
  void SetUp() override {
    std::string name = testing::TempDir() + "row_numbers_XXXXXX";
    ASSERT_NE(mkdtemp(name.data()), nullptr);
    folder_ = name;
    const std::filesystem::path path = folder_ / "empty.db";
    std::fclose(std::fopen(path.c_str(), "w"));
    ASSERT_TRUE(WriteEmptyDatabase(path, EmptyDatabase::Schema::kTables).ok());
    auto db = SqliteDb::Open(path, SqliteMode::kReadWrite);
    ASSERT_TRUE(db.ok());
    db_.emplace(std::move(db).value());
  }
  void TearDown() override {
    db_.reset();
    std::filesystem::remove_all(folder_);
  }

  std::vector<std::string> Ask(const std::string& sql) {
    std::vector<std::string> found;
    auto rows = db_->Prepare(sql);
    EXPECT_TRUE(rows.ok()) << sql;
    while (rows.ok() && rows.value().Step().value()) found.emplace_back(rows.value().Text(0));
    return found;
  }

  // As NumberedTree has it; `columns` in the order of the record.
  static std::string Numbered(const std::string& table, const std::vector<std::string>& columns,
                              size_t first) {
    std::string text;
    for (size_t i = first; i < columns.size(); ++i) {
      const auto id = kIds.find(columns[i]);
      if (id == kIds.end()) continue;
      const bool of_graph = kOfGraphs.contains(table) && columns[i] == "capture_id";
      text += (text.empty() ? "" : " ") + std::to_string(i) + (of_graph ? 'r' : id->second);
    }
    return text;
  }

  std::filesystem::path folder_;
  std::optional<SqliteDb> db_;
};

TEST_F(RowNumbersTest, every_column_with_an_id_is_known) {
  std::map<std::string, NumberedTree> known;
  for (const NumberedTree& tree : NumberedTrees()) known.emplace(tree.name, tree);
  size_t seen = 0;
  for (const std::string& table :
       Ask("SELECT name FROM sqlite_schema WHERE type = 'table' AND name LIKE '\\_%' ESCAPE '\\' "
           "AND name <> '_args_mark'")) {
    if (IsFilledLater(table)) {
      EXPECT_FALSE(known.contains(table)) << table;
      continue;
    }
    ASSERT_TRUE(known.contains(table)) << table;
    ++seen;
    const NumberedTree& tree = known.at(table);
    const bool is_index = !Ask("SELECT 1 FROM sqlite_schema WHERE name = '" + table +
                               "' AND sql LIKE '%WITHOUT ROWID%'")
                               .empty();
    EXPECT_EQ(tree.is_index, is_index) << table;
    // A table that is an index has its key first.
    const auto columns = Ask("SELECT name FROM pragma_table_info('" + table + "') ORDER BY " +
                             (is_index ? "pk = 0, pk, cid" : "cid"));
    const auto key = Ask("SELECT name FROM pragma_table_info('" + table + "') WHERE pk = 1");
    const bool has_id = !is_index && !key.empty();
    EXPECT_EQ(tree.columns, Numbered(table, columns, has_id ? 1 : 0)) << table;
    if (has_id && kIds.contains(key.front())) {
      EXPECT_EQ(tree.rowid, kIds.at(key.front())) << table;
    }
  }
  for (const std::string& index :
       Ask("SELECT name FROM sqlite_schema WHERE type = 'index' AND tbl_name LIKE '\\_%' "
           "ESCAPE '\\'")) {
    const std::string table =
        Ask("SELECT tbl_name FROM sqlite_schema WHERE name = '" + index + "'").front();
    if (IsFilledLater(table)) continue;
    ASSERT_TRUE(known.contains(index)) << index;
    ++seen;
    const NumberedTree& tree = known.at(index);
    EXPECT_TRUE(tree.is_index) << index;
    std::vector<std::string> columns = Ask("SELECT name FROM pragma_index_info('" + index + "')");
    std::string numbered = Numbered(table, columns, 0);
    // The rowid comes last.
    const char rowid = known.at(table).rowid;
    if (rowid != '-') {
      numbered += (numbered.empty() ? "" : " ") + std::to_string(columns.size()) + rowid;
    }
    EXPECT_EQ(tree.columns, numbered) << index;
  }
  EXPECT_EQ(seen, known.size());
}

}  // namespace
}  // namespace tracedb
