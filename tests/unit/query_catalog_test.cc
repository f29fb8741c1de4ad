#include "tracedb/query/doc/query_catalog.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "query_fixture.h"

namespace tracedb {
namespace {

const std::vector<QueryText> kQueries = {
    {"stream_utilization.sql", "-- title: Streams\nSELECT 1;"},
    {"overlap.sql", "-- title: Overlap\n-- column: n int(count) N.\nSELECT 1 AS n;"},
    {"nccl_stalls.sql", "-- title: Stalls\nSELECT 1;"}};

TEST(QueryCatalog, FindsByNameWithAndWithoutSql) {
  auto catalog = QueryCatalog::Load(kQueries);
  ASSERT_TRUE(catalog.ok());
  EXPECT_EQ(catalog.value().queries()[0].name, "nccl_stalls");
  EXPECT_EQ(catalog.value().Find("overlap")->title, "Overlap");
  EXPECT_EQ(catalog.value().Find("overlap.sql")->title, "Overlap");
  EXPECT_EQ(catalog.value().Find("overla"), nullptr);
  EXPECT_EQ(catalog.value().Find("overlap.sql.sql"), nullptr);
}

TEST(QueryCatalog, AnUnknownNameSuggestsTheNearest) {
  auto catalog = QueryCatalog::Load(kQueries);
  ASSERT_TRUE(catalog.ok());
  auto found = catalog.value().Get("overlpa.sql");
  ASSERT_FALSE(found.ok());
  EXPECT_EQ(found.error().kind, ErrorKind::kUsage);
  EXPECT_EQ(found.error().what, "there is no canned query 'overlpa'");
  EXPECT_EQ(found.error().advice, "did you mean overlap? all are listed by: tracedb query");
  EXPECT_EQ(catalog.value().Get("stalls").error().advice.substr(0, 24), "did you mean nccl_stalls");
  EXPECT_EQ(catalog.value().Get("zzz").error().advice, "queries are listed by: tracedb query");
}

TEST(QueryCatalog, AQueryInAFolderIsFoundByItsNameAndSuggestedOnlyThere) {
  const std::vector<QueryText> queries = {{"overlap.sql", "-- title: Overlap\nSELECT 1;"},
                                          {"doctor/overlaps.sql", "-- title: Check\nSELECT 1;"}};
  auto catalog = QueryCatalog::Load(queries);
  ASSERT_TRUE(catalog.ok());
  EXPECT_EQ(catalog.value().Find("doctor/overlaps.sql")->title, "Check");
  EXPECT_TRUE(catalog.value().Find("doctor/overlaps")->IsInFolder());
  EXPECT_EQ(catalog.value().Find("overlaps"), nullptr);
  EXPECT_EQ(catalog.value().Get("zzz").error().advice, "queries are listed by: tracedb query");
  EXPECT_EQ(catalog.value().Get("doctor/overlap").error().advice,
            "did you mean doctor/overlaps? all are listed by: tracedb query");
}

TEST(QueryCatalog, AFolderAddsAndReplaces) {
  const TemporaryFolder folder;
  std::ofstream(folder.path() / "overlap.sql") << "-- title: Mine\nSELECT 2;";
  std::ofstream(folder.path() / "new.sql") << "-- title: New\nSELECT 3;";
  std::ofstream(folder.path() / "README.md") << "no query";
  auto catalog = QueryCatalog::Load(kQueries, folder.path());
  ASSERT_TRUE(catalog.ok()) << catalog.error().what;
  EXPECT_EQ(catalog.value().queries().size(), 4u);
  EXPECT_EQ(catalog.value().Find("overlap")->title, "Mine");
  EXPECT_EQ(catalog.value().Find("new")->title, "New");
  EXPECT_FALSE(QueryCatalog::Load(kQueries, folder.path() / "nowhere").ok());
}

TEST(QueryCatalog, WhyEmptyNamesQueriesOfTheCatalog) {
  const std::string header = "-- title: Overlap\n-- why_empty: doctor/a, doctor/b\n";
  const std::string overlap = header + "SELECT 1;";
  std::vector<QueryText> queries = {{"overlap.sql", overlap},
                                    {"doctor/a.sql", "-- title: A\nSELECT 'a';"}};
  auto catalog = QueryCatalog::Load(queries);
  ASSERT_FALSE(catalog.ok());
  EXPECT_EQ(catalog.error().what,
            "overlap.sql: why_empty names 'doctor/b', which is no canned query");
  queries.push_back({"doctor/b.sql", "-- title: B\nSELECT 'b';"});
  catalog = QueryCatalog::Load(queries);
  ASSERT_TRUE(catalog.ok());
  EXPECT_EQ(catalog.value().Find("overlap")->why_empty_sql,
            (std::vector<std::string>{"SELECT 'a';", "SELECT 'b';"}));
  EXPECT_TRUE(catalog.value().Find("doctor/a")->why_empty_sql.empty());
}

TEST(QueryCatalog, ACannedQueryMustBeDocumented) {
  const std::vector<QueryText> bare = {{"bare.sql", "SELECT 1"}};
  auto catalog = QueryCatalog::Load(bare);
  ASSERT_FALSE(catalog.ok());
  EXPECT_EQ(catalog.error().what, "bare.sql:1: a canned query without a header");
}

std::string Check(std::string_view text) {
  SqliteDb db = TestDatabase();
  auto doc = ParseQueryDoc("q.sql", text);
  if (!doc.ok()) return doc.error().what;
  const Status checked = CheckCannedQuery(db, doc.value());
  return checked.ok() ? "" : checked.error().what;
}

TEST(QueryCatalog, CheckComparesTheSqlWithItsHeader) {
  const std::string header =
      "-- title: Q\n-- param: least int(count) = 0 L.\n-- column: name text N.\n"
      "-- column: busy_ms real(ms) B.\n-- about: time\n";
  EXPECT_EQ(Check(header + "SELECT name, busy_ms FROM t WHERE rank >= :least; -- end\n"), "");
  EXPECT_EQ(Check(header + "SELECT busy_ms, name FROM t WHERE rank >= :least"),
            "q.sql: the result's columns are busy_ms, name, its column lines say name, busy_ms");
  EXPECT_EQ(Check(header + "SELECT name, busy_ms FROM t"),
            "q.sql: the SQL has the parameters none, its param lines say :least");
  EXPECT_EQ(Check(header + "SELECT name, busy_ms FROM t WHERE rank >= @least"),
            "q.sql: the SQL has the parameters @least, its param lines say :least");
  EXPECT_EQ(Check(header + "SELECT name, busy_ms FROM t WHERE rank >= :least; SELECT 1;"),
            "q.sql: more than one statement");
  EXPECT_EQ(Check("-- title: Q\nDELETE FROM t"), "q.sql: it does not only read");
  EXPECT_EQ(Check("-- title: Q\nSELECT absent FROM t"), "q.sql: no such column: absent");
}

}  // namespace
}  // namespace tracedb
