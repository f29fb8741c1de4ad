// The schema's own comments: how they are read, and that nothing public lacks one.

#include "tracedb/schema/schema_doc.h"

#include <gtest/gtest.h>

#include <set>

namespace tracedb {
namespace {

TEST(SchemaDoc, lines_at_the_top_are_the_views_and_its_columns) {
  const SchemaComment comment = ParseSchemaComment(
      "CREATE VIEW steps AS\n"
      "-- A training step: what\n"
      "-- ProfilerStep says.\n"
      "--   step: its number, as in\n"
      "--     ProfilerStep#7: 7\n"
      "--   ts_ns: start\n"
      "SELECT 1 AS step, 2 AS ts_ns\n"
      "--   late: no comment of a column\n"
      "FROM x");
  EXPECT_EQ(comment.text, "A training step: what ProfilerStep says.");
  EXPECT_EQ(comment.columns.size(), 2u);
  EXPECT_EQ(comment.columns.at("step"), "its number, as in ProfilerStep#7: 7");
  EXPECT_EQ(comment.columns.at("ts_ns"), "start");
}

TEST(SchemaDoc, a_table_has_them_inside_its_bracket) {
  const SchemaComment comment =
      ParseSchemaComment("CREATE TABLE t (\n  -- A thing.\n  --   a: first\n  a TEXT\n)");
  EXPECT_EQ(comment.text, "A thing.");
  EXPECT_EQ(comment.columns.at("a"), "first");
}

TEST(SchemaDoc, none_is_none) {
  EXPECT_EQ(ParseSchemaComment("CREATE VIEW v AS SELECT 1").text, "");
  EXPECT_EQ(ParseSchemaComment("CREATE VIEW v AS\nSELECT 1 -- one\n").text, "");
  EXPECT_TRUE(ParseSchemaComment("").columns.empty());
}

TEST(SchemaDoc, everything_public_is_described) {
  const auto doc = ReadSchemaDoc();
  ASSERT_TRUE(doc.ok()) << doc.error().what;
  std::set<std::string> names;
  bool foreign = false;
  for (const RelationDoc& relation : doc.value()) {
    names.insert(relation.name);
    EXPECT_FALSE(relation.text.empty()) << relation.name;
    EXPECT_NE(relation.name[0], '_');
    EXPECT_TRUE(relation.foreign || !foreign) << relation.name << " is after another program's";
    foreign = relation.foreign;
    EXPECT_EQ(relation.columns.empty(), relation.foreign) << relation.name;
    for (const RelationDoc::Column& column : relation.columns) {
      EXPECT_FALSE(column.text.empty()) << relation.name << "." << column.name;
    }
  }
  for (const char* name : {"slices", "kernels", "kind_rules", "process_groups", "StringIds"}) {
    EXPECT_TRUE(names.contains(name)) << name;
  }
}

TEST(SchemaDoc, every_view_with_a_start_has_its_end_and_its_milliseconds) {
  const auto doc = ReadSchemaDoc();
  ASSERT_TRUE(doc.ok());
  for (const RelationDoc& relation : doc.value()) {
    std::set<std::string> names;
    for (const RelationDoc::Column& column : relation.columns) names.insert(column.name);
    if (!names.contains("ts_ns")) continue;
    EXPECT_TRUE(names.contains("end_ns")) << relation.name;
    EXPECT_TRUE(names.contains("start_ms")) << relation.name;
  }
}

}  // namespace
}  // namespace tracedb
