#include "tracedb/doctor/doctor_checks.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "tracedb/doctor/doctor_json.h"
#include "tracedb/doctor/doctor_text.h"

namespace tracedb {
namespace {

const std::string kHeader =
    "-- title: T\n-- meaning: M.\n-- advice: A.\n-- column: severity text S.\n"
    "-- column: count int(count) C.\n-- column: name text N.\n";

SqliteDb Database() {
  auto db = SqliteDb::OpenInMemory();
  const Status filled = db.value().Execute(
      "CREATE TABLE traces (trace_id INTEGER PRIMARY KEY);"
      "INSERT INTO traces VALUES (1), (2);");
  EXPECT_TRUE(filled.ok());
  return std::move(db).value();
}

std::string Trouble(const std::string& text) {
  const std::vector<QueryText> queries = {{"doctor/a.sql", text}};
  auto catalog = QueryCatalog::Load(queries);
  if (!catalog.ok()) return catalog.error().what;
  SqliteDb db = Database();
  const auto report = RunChecks(db, catalog.value());
  return report.ok() ? report.value().checks[0].error : report.error().what;
}

TEST(DoctorChecks, ACheckSaysHowBadWhatItMeansAndWhatToDo) {
  EXPECT_EQ(Trouble(kHeader + "SELECT 'note' AS severity, 1 AS count, 'n' AS name"), "");
  EXPECT_EQ(Trouble("-- title: T\n-- meaning: M.\n-- column: severity text S.\n"
                    "-- column: count int(count) C.\nSELECT 'note' AS severity, 1 AS count"),
            "doctor/a.sql: a check without 'advice:'");
  EXPECT_EQ(Trouble("-- title: T\n-- meaning: M.\n-- advice: A.\n-- column: severity text S.\n"
                    "SELECT 'note' AS severity"),
            "doctor/a.sql: a check without 'column: count'");
  EXPECT_EQ(Trouble(kHeader + "SELECT 'note' AS severity, 1 AS count"),
            "doctor/a.sql: its column lines are not the result's columns");
}

TEST(DoctorChecks, OneFindingAmongNotesMakesAFinding) {
  const std::string two = kHeader +
                          "SELECT 'note' AS severity, 2 AS count, 'a' AS name "
                          "UNION ALL SELECT 'finding', 3, 'b'";
  const std::string note = kHeader + "SELECT 'note' AS severity, 1 AS count, NULL AS name";
  const std::string none = note + " WHERE 0";
  const std::vector<QueryText> queries = {{"doctor/none.sql", none},
                                          {"doctor/note.sql", note},
                                          {"doctor/two.sql", two},
                                          {"overlap.sql", "-- title: No check\nSELECT 1"}};
  const auto catalog = QueryCatalog::Load(queries);
  ASSERT_TRUE(catalog.ok());
  SqliteDb db = Database();
  const auto report = RunChecks(db, catalog.value());
  ASSERT_TRUE(report.ok()) << report.error().what;
  EXPECT_EQ(report.value().traces, 2);
  ASSERT_EQ(report.value().checks.size(), 3u);
  EXPECT_EQ(report.value().Findings(), 1u);
  EXPECT_EQ(report.value().Notes(), 1u);
  EXPECT_EQ(report.value().checks[2].count, 5);

  StringOutput text;
  ASSERT_TRUE(WriteTextReport(report.value(), 0, text).ok());
  ASSERT_TRUE(text.Flush().ok());
  EXPECT_EQ(text.text(),
            "finding: T (two)\n\n  severity  count  name\n  --------  -----  ----\n"
            "  note          2  a\n  finding       3  b\n\n  It means: M.\n  To do: A.\n\n"
            "note: T (note)\n\n  count  name\n  -----  ----\n      1\n\n"
            "  It means: M.\n  To do: A.\n\n1 finding and 1 note in 2 traces (3 checks)\n");
  StringOutput json;
  ASSERT_TRUE(WriteJsonReport(report.value(), json).ok());
  ASSERT_TRUE(json.Flush().ok());
  EXPECT_TRUE(json.text().starts_with(
      "{\"findings\":[{\"check\":\"two\",\"title\":\"T\",\"count\":5,\"rows_found\":2,"
      "\"meaning\":\"M.\",\"advice\":\"A.\",\"rows\":[\n"
      "{\"severity\":\"note\",\"count\":2,\"name\":\"a\"},"))
      << json.text();
}

TEST(DoctorChecks, RowsBeyondTheBoundAreCountedAndLongTextsCut) {
  const std::string many =
      kHeader +
      "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 1500) "
      "SELECT 'finding' AS severity, 2 AS count, replace(printf('%1000s', ''), ' ', 'äö') AS name "
      "FROM n";
  const std::vector<QueryText> queries = {{"doctor/many.sql", many}};
  const auto catalog = QueryCatalog::Load(queries);
  ASSERT_TRUE(catalog.ok());
  SqliteDb db = Database();
  const auto report = RunChecks(db, catalog.value());
  ASSERT_TRUE(report.ok()) << report.error().what;
  const CheckResult& check = report.value().checks[0];
  EXPECT_EQ(check.rows.size(), CheckResult::kRowsKeptMax);
  EXPECT_EQ(check.rows_found, 1500u);
  EXPECT_EQ(check.count, 3000);
  EXPECT_EQ(check.rows[0][2].text.size(), CheckResult::kTextBytesMax + std::string("…").size());
  EXPECT_TRUE(check.rows[0][2].text.ends_with("äö…"));
}

}  // namespace
}  // namespace tracedb
