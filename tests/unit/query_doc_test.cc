#include "tracedb/query/doc/query_doc.h"

#include <gtest/gtest.h>

#include <string>

#include "tracedb/query/doc/query_explain.h"

namespace tracedb {
namespace {

constexpr std::string_view kDocumented = R"(-- title: Where time is spent, by name
--
-- Self time is a slice's duration
--   less that of its children.
--
-- A second paragraph: with a colon.
--
-- param:  process     text      = null   Keep this process only;
--                                        all of them when null.
-- param:  label       text      = 'it''s a' What to call it.
-- param:  min_self_ns int(ns)   = 0      Leave out less self time.
-- param:  share       real(0..1)         Must be given.
-- param:  deep        bool      = true   With children.
--
-- column: name        text         Slice name.
-- column: stream      text(id)     Stream.
-- column: bytes       int(bytes)   Moved.
-- column: busy_ms     real(ms)     Busy.
-- column: busy_pct    real(pct)    Busy, as a share.
-- column: wait_us     real(us)     Waited.
-- column: busbw       real(gbps)   Bandwidth.
--
-- empty:  No slices pass the filters;
--         there may be none.

-- an ordinary comment
SELECT 1;
)";

TEST(QueryDoc, ReadsEveryPartOfAHeader) {
  auto parsed = ParseQueryDoc("by_name.sql", kDocumented);
  ASSERT_TRUE(parsed.ok()) << parsed.error().what;
  const QueryDoc& doc = parsed.value();
  EXPECT_EQ(doc.file, "by_name.sql");
  EXPECT_EQ(doc.name, "by_name");
  EXPECT_EQ(doc.title, "Where time is spent, by name");
  EXPECT_EQ(doc.description,
            "Self time is a slice's duration\n  less that of its children.\n\n"
            "A second paragraph: with a colon.");
  EXPECT_EQ(doc.when_empty, "No slices pass the filters; there may be none.");
  EXPECT_EQ(doc.sql, "\n-- an ordinary comment\nSELECT 1;\n");
  EXPECT_EQ(doc.sql_line, 25);
  ASSERT_EQ(doc.params.size(), 5u);
  EXPECT_EQ(doc.params[0].text, "Keep this process only; all of them when null.");
  EXPECT_TRUE(doc.params[0].default_is_null);
  EXPECT_EQ(doc.params[1].default_text, "it's a");
  EXPECT_EQ(doc.params[1].text, "What to call it.");
  EXPECT_EQ(doc.params[2].type, DocType::kInteger);
  EXPECT_EQ(doc.params[2].unit, "ns");
  EXPECT_EQ(doc.params[2].default_text, "0");
  EXPECT_FALSE(doc.params[3].default_text.has_value());
  EXPECT_EQ(doc.params[4].type, DocType::kBool);
  ASSERT_EQ(doc.columns.size(), 7u);
  EXPECT_EQ(doc.columns[1].unit, "id");
  EXPECT_EQ(doc.columns[4].text, "Busy, as a share.");
}

TEST(QueryDoc, ReadsWindowsLineEndsAndAByteOrderMark) {
  auto parsed =
      ParseQueryDoc("a.sql", "\xEF\xBB\xBF-- title: A\r\n-- column: n int(count) N.\r\nSELECT");
  ASSERT_TRUE(parsed.ok()) << parsed.error().what;
  EXPECT_EQ(parsed.value().title, "A");
  EXPECT_EQ(parsed.value().columns[0].text, "N.");
  EXPECT_EQ(parsed.value().sql, "SELECT");
}

TEST(QueryDoc, ReadsMeaningAndAdviceOfACheck) {
  auto parsed = ParseQueryDoc("a.sql",
                              "-- title: A\n--\n-- What.\n--\n-- meaning: It is\n--   wrong.\n"
                              "-- advice: Do.\n-- column: n int(count) N.\nSELECT 1 AS n");
  ASSERT_TRUE(parsed.ok()) << parsed.error().what;
  EXPECT_EQ(parsed.value().description, "What.");
  EXPECT_EQ(parsed.value().meaning, "It is wrong.");
  EXPECT_EQ(parsed.value().advice, "Do.");
  const std::string page = ExplainQuery(parsed.value());
  EXPECT_NE(page.find("What a row means\n  It is wrong.\n"), std::string::npos) << page;
  EXPECT_NE(page.find("What to do\n  Do.\n"), std::string::npos) << page;
}

TEST(QueryDoc, ReadsHowItIsPlotted) {
  auto parsed = ParseQueryDoc("a.sql",
                              "-- title: A\n-- plot: stacked a_ms,\n--   b_ms by k\n"
                              "-- column: k text K.\n-- column: a_ms real(ms) A.\n"
                              "-- column: b_ms real(ms) B.\nSELECT");
  ASSERT_TRUE(parsed.ok()) << parsed.error().what;
  ASSERT_TRUE(parsed.value().plot.has_value());
  EXPECT_EQ(parsed.value().plot->values, (std::vector<std::string>{"a_ms", "b_ms"}));
  const std::string page = ExplainQuery(parsed.value());
  EXPECT_NE(page.find("\nPlot (--plot)\n  stacked a_ms, b_ms by k\n"), std::string::npos) << page;
}

TEST(QueryDoc, APlotLineNeedsNoOtherHeader) {
  auto parsed = ParseQueryDoc("a.sql", "-- Mine.\n-- plot: line v over x\nSELECT 1");
  ASSERT_TRUE(parsed.ok()) << parsed.error().what;
  EXPECT_FALSE(parsed.value().IsDocumented());
  EXPECT_EQ(parsed.value().plot->over, "x");
  EXPECT_EQ(parsed.value().sql, "SELECT 1");
  auto more = ParseQueryDoc("a.sql", "-- plot: bar v\n-- column: v int(count) V.\nSELECT 1");
  ASSERT_FALSE(more.ok());
  EXPECT_EQ(more.error().what, "a.sql:1: the header has no title");
}

TEST(QueryDoc, TextWithoutAHeaderIsAllSql) {
  for (std::string_view text : {"SELECT 1", "-- just a remark\nSELECT 1", "", "--\n--"}) {
    auto parsed = ParseQueryDoc("x.sql", text);
    ASSERT_TRUE(parsed.ok()) << text;
    EXPECT_FALSE(parsed.value().IsDocumented());
    EXPECT_EQ(parsed.value().sql, text);
    EXPECT_EQ(parsed.value().sql_line, 1);
  }
}

TEST(QueryDoc, AHeaderMayEndTheText) {
  auto parsed = ParseQueryDoc("x.sql", "-- title: A");
  ASSERT_TRUE(parsed.ok());
  EXPECT_EQ(parsed.value().sql, "");
}

struct BadHeader {
  std::string_view lines;  // after the title line
  std::string_view what;
};

class QueryDocErrors : public testing::TestWithParam<BadHeader> {};

TEST_P(QueryDocErrors, NameTheLine) {
  const std::string text = "-- title: A\n" + std::string(GetParam().lines) + "\nSELECT 1";
  auto parsed = ParseQueryDoc("bad.sql", text);
  ASSERT_FALSE(parsed.ok());
  EXPECT_EQ(parsed.error().what, GetParam().what);
  EXPECT_EQ(parsed.error().kind, ErrorKind::kQuery);
}

INSTANTIATE_TEST_SUITE_P(
    All, QueryDocErrors,
    testing::Values(
        BadHeader{"-- column: x int Text.", "bad.sql:2: column 'x' has no unit"},
        BadHeader{"--\n-- plot: bar y by x\n-- column: x text T.",
                  "bad.sql:3: plot: there is no column 'y'"},
        BadHeader{"-- plot: bar x\n-- column: x text T.",
                  "bad.sql:2: plot: column 'x' is text, no number"},
        BadHeader{"-- plot:", "bad.sql:2: plot: nothing to plot"},
        BadHeader{"-- plot: pie x", "bad.sql:2: plot: there is no plot 'pie'"},
        BadHeader{"-- plot: bar by x", "bad.sql:2: plot: 'bar' of which column"},
        BadHeader{"-- plot: bar x y", "bad.sql:2: plot: 'bar' is of one column, these are 2"},
        BadHeader{"-- plot: bar x by", "bad.sql:2: plot: 'by' which column"},
        BadHeader{"-- plot: bar x by y by z", "bad.sql:2: plot: one 'by' too many"},
        BadHeader{"-- plot: bar x by x", "bad.sql:2: plot: column 'x' is named twice"},
        BadHeader{"-- plot: bar x over y", "bad.sql:2: plot: 'over' belongs to line, not to bar"},
        BadHeader{"-- plot: stacked x",
                  "bad.sql:2: plot: 'stacked' is of 2 to 9 columns, not of 1"},
        BadHeader{"-- plot: line x by y", "bad.sql:2: plot: 'line' over which column"},
        BadHeader{"-- plot: line x over y z", "bad.sql:2: plot: 'over' is of one column, not of 2"},
        BadHeader{"-- plot: bar x\n-- plot: bar y", "bad.sql:3: a second 'plot:'"},
        BadHeader{"-- plots: bar x", "bad.sql:2: there is no key 'plots:'"},
        BadHeader{"-- column: x real() Text.", "bad.sql:2: column 'x' has no unit"},
        BadHeader{"--\n-- column: x real(parsec) T.",
                  "bad.sql:3: column 'x' has an unknown unit 'parsec'"},
        BadHeader{"-- column: x int(ns T.",
                  "bad.sql:2: column 'x': 'int(ns' has no closing "
                  "parenthesis"},
        BadHeader{"-- column: self int(ns) T.",
                  "bad.sql:2: column 'self' is in ns, so its name must end in _ns"},
        BadHeader{"-- column: self real(ms) T.",
                  "bad.sql:2: column 'self' is in ms, so its name must end in _ms"},
        BadHeader{"-- column: self real(us) T.",
                  "bad.sql:2: column 'self' is in us, so its name must end in _us"},
        BadHeader{"-- column: self_ms real(pct) T.",
                  "bad.sql:2: column 'self_ms' is in pct, so its name must end in _pct"},
        BadHeader{"-- param: size int(bytes) = 1 T.",
                  "bad.sql:2: param 'size' is in bytes, so its name must end in _bytes"},
        BadHeader{"-- column: x text(ns) T.", "bad.sql:2: column 'x' is text and has no unit"},
        BadHeader{"-- column: x number(ns) T.",
                  "bad.sql:2: column 'x' has an unknown type "
                  "'number'"},
        BadHeader{"-- column: x", "bad.sql:2: column 'x' has no type"},
        BadHeader{"-- column:", "bad.sql:2: a column without a name"},
        BadHeader{"-- column: 9x text T.",
                  "bad.sql:2: column '9x' has a name that is no plain "
                  "SQL name"},
        BadHeader{"-- column: x text T.\n-- column: x text T.",
                  "bad.sql:3: column 'x' is there already"},
        BadHeader{"-- param: x text T.\n-- param: x text T.",
                  "bad.sql:3: param 'x' is there already"},
        BadHeader{"-- column: x text", "bad.sql:2: column 'x' has no description"},
        BadHeader{"-- param: x text = a", "bad.sql:2: param 'x' has no description"},
        BadHeader{"-- param: x text =", "bad.sql:2: param 'x' has '=' but no default"},
        BadHeader{"-- param: x text = 'a T.",
                  "bad.sql:2: param 'x': the default has no closing "
                  "quote"},
        BadHeader{"-- param: n int(rows) = many T.",
                  "bad.sql:2: param 'n': its default 'many' is no integer"},
        BadHeader{"-- param: b bool = maybe T.",
                  "bad.sql:2: param 'b': its default 'maybe' is no bool (true or false)"},
        BadHeader{"-- title: B", "bad.sql:2: a second 'title:'"},
        BadHeader{"-- empty: A\n-- empty: B", "bad.sql:3: a second 'empty:'"},
        BadHeader{"-- empty:", "bad.sql:1: 'empty:' has no text"},
        BadHeader{"-- advice: A\n-- meaning: B\n-- advice: C", "bad.sql:4: a second 'advice:'"},
        BadHeader{"-- meaning:", "bad.sql:1: 'meaning:' has no text"},
        BadHeader{"-- colum: x text T.", "bad.sql:2: there is no key 'colum:'"},
        BadHeader{"-- column: x text T.\n-- goes on",
                  "bad.sql:3: free text after the first param, column or empty line"},
        BadHeader{"-- column: x text T.\n--\n--   goes on",
                  "bad.sql:4: an indented line that goes on with nothing"}));

TEST(QueryDoc, TitleErrors) {
  const auto what = [](std::string_view text) {
    auto parsed = ParseQueryDoc("t.sql", text);
    return parsed.ok() ? "" : parsed.error().what;
  };
  EXPECT_EQ(what("-- column: x text T."), "t.sql:1: the header has no title");
  EXPECT_EQ(what("-- title:"), "t.sql:1: the title is empty");
  EXPECT_EQ(what("-- title: Stop."), "t.sql:1: the title ends in a full stop");
  EXPECT_EQ(what("-- title: " + std::string(61, 'a')),
            "t.sql:1: the title has 61 characters, at most 60 are allowed");
  std::string umlauts;
  for (int i = 0; i < 60; ++i) umlauts += "ä";
  EXPECT_EQ(what("-- title: " + umlauts), "");
}

TEST(QueryDoc, ExplainShowsEverything) {
  auto parsed = ParseQueryDoc("by_name.sql", kDocumented);
  ASSERT_TRUE(parsed.ok());
  const std::string page = ExplainQuery(parsed.value());
  for (std::string_view part :
       {"by_name: Where time is spent, by name\n", "A second paragraph", "Must be given.",
        "must be given", "  min_self_ns  int (ns)     default 0         Leave out less",
        "default 'it's a'", "  busy_pct  real (pct)", "When there is no row\n  No slices",
        "\nSQL\n-- an ordinary comment\nSELECT 1;\n"}) {
    EXPECT_NE(page.find(part), std::string::npos) << part << "\nin\n" << page;
  }
}

}  // namespace
}  // namespace tracedb
