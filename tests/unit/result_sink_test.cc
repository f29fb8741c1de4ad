#include "tracedb/text/result_sink.h"

#include <gtest/gtest.h>

#include <limits>
#include <string>
#include <vector>

namespace tracedb {
namespace {

Cell Null() { return {}; }
Cell Integer(int64_t value) { return {SqlType::kInteger, value, 0, {}}; }
Cell Real(double value) { return {SqlType::kReal, 0, value, {}}; }
Cell Text(std::string_view text) { return {SqlType::kText, 0, 0, text}; }
Cell Blob(std::string_view bytes) { return {SqlType::kBlob, 0, 0, bytes}; }

using Rows = std::vector<std::vector<Cell>>;

std::string Render(Format format, const std::vector<std::string>& names, const Rows& rows,
                   const SinkOptions& options = {}, int results = 1) {
  StringOutput output;
  const auto sink = MakeSink(format, options, output);
  for (int i = 0; i < results; ++i) {
    EXPECT_TRUE(sink->Begin(names).ok());
    for (const auto& row : rows) EXPECT_TRUE(sink->Row(row).ok());
    EXPECT_TRUE(sink->End().ok());
  }
  EXPECT_TRUE(output.Flush().ok());
  return output.text();
}

constexpr std::string_view kZeroInside("a\0b", 3);

TEST(ResultSink, FormatsHaveNames) {
  for (Format format : {Format::kTable, Format::kCsv, Format::kTsv, Format::kJson, Format::kNdjson,
                        Format::kMarkdown, Format::kArrow, Format::kParquet}) {
    EXPECT_EQ(FormatByName(FormatName(format)), format);
  }
  EXPECT_FALSE(FormatByName("xml").has_value());
  EXPECT_EQ(FormatMediaType(Format::kCsv), "text/csv; charset=utf-8");
}

TEST(ResultSink, CsvQuotesWhatItMust) {
  EXPECT_EQ(Render(Format::kCsv, {"a,b", "c\"d"},
                   {{Text("x,y"), Text("q\"q")},
                    {Text("l\nf"), Text("c\rr")},
                    {Null(), Text("")},
                    {Text(" plain\x1b\\ "), Text(kZeroInside)},
                    {Blob(kZeroInside), Text("\xff")}}),
            "\"a,b\",\"c\"\"d\"\n\"x,y\",\"q\"\"q\"\n\"l\nf\",\"c\rr\"\n,\"\"\n plain\x1b\\ ," +
                std::string(kZeroInside) + "\n610062,\xff\n");
}

TEST(ResultSink, CsvNumbersReadBack) {
  EXPECT_EQ(Render(Format::kCsv, {"n"},
                   {{Integer(std::numeric_limits<int64_t>::min())},
                    {Real(0.1)},
                    {Real(1.0 / 3)},
                    {Real(100000)},
                    {Real(123456789.125)},
                    {Real(1e300)},
                    {Real(-1e-7)},
                    {Real(std::numeric_limits<double>::infinity())}}),
            "n\n-9223372036854775808\n0.1\n0.3333333333333333\n100000\n123456789.125\n1e+300\n"
            "-1e-07\ninf\n");
}

TEST(ResultSink, CsvOfWhatIsWorkedOut) {
  const std::vector<std::vector<Cell>> rows = {
      {Real(0.1 + 0.2), Real(0.1 + 0.2)},   {Real(1234.567891), Real(-1e-7)},
      {Real(2.0 / 3), Real(-1e-10)},        {Real(1e9 / 3), Real(1e10 / 3)},
      {Real(100), Real(999999.9999999999)}, {Real(1e300), Real(1e15 / 3)}};
  EXPECT_EQ(Render(Format::kCsv, {"busy_ms", "share_pct"}, rows),
            "busy_ms,share_pct\n0.3,0.3\n1234.567891,-0.0000001\n0.666666667,0\n"
            "333333333.33333,3333333333.33333\n100,1000000\n1e+300,333333333333333\n");
  EXPECT_EQ(Render(Format::kTsv, {"as_read", "algbw_gbps"}, {rows[0]}),
            "as_read\talgbw_gbps\n0.30000000000000004\t0.3\n");
}

TEST(ResultSink, HeaderCanBeLeftOut) {
  const SinkOptions bare{.header = false};
  EXPECT_EQ(Render(Format::kCsv, {"n"}, {{Integer(1)}}, bare), "1\n");
  EXPECT_EQ(Render(Format::kTsv, {"n"}, {{Integer(1)}}, bare), "1\n");
  EXPECT_EQ(Render(Format::kTable, {"name"}, {{Integer(1)}}, bare), "1\n");
}

TEST(ResultSink, IntegersThatSpreadsheetsRoundAreTextsOnRequest) {
  const SinkOptions texts{.header = false, .long_as_text = true};
  EXPECT_EQ(Render(Format::kCsv, {"a", "b", "c"},
                   {{Integer(999'999'999'999'999), Integer(1'795'186'313'688'810'184),
                     Integer(-1'000'000'000'000'000)}},
                   texts),
            "999999999999999,'1795186313688810184,'-1000000000000000\n");
  EXPECT_EQ(Render(Format::kCsv, {"a"}, {{Integer(1'795'186'313'688'810'184)}}, {.header = false}),
            "1795186313688810184\n");
}

TEST(ResultSink, FormulasAreDefusedAndNumbersAreNot) {
  const SinkOptions safe{.header = true, .safe_text = true, .crlf = true};
  EXPECT_EQ(Render(Format::kCsv, {"=h"},
                   {{Text("=1+1")},
                    {Text("@a")},
                    {Text("+a")},
                    {Text("-1+2")},
                    {Text("\tx")},
                    {Text("\rx")},
                    {Text("-")},
                    {Text("=\"a\",1")}},
                   safe),
            "'=h\r\n'=1+1\r\n'@a\r\n'+a\r\n'-1+2\r\n'\tx\r\n\"'\rx\"\r\n'-\r\n"
            "\"'=\"\"a\"\",1\"\r\n");
  EXPECT_EQ(Render(Format::kCsv, {"n"},
                   {{Integer(-5)},
                    {Real(-0.5)},
                    {Text("-5")},
                    {Text("+1.5e3")},
                    {Text("")},
                    {Text("a=b")},
                    {Null()}},
                   {.header = false, .safe_text = true}),
            "-5\n-0.5\n-5\n+1.5e3\n\"\"\na=b\n\n");
  EXPECT_EQ(Render(Format::kTsv, {"n"}, {{Text("=1")}}, {.header = false, .safe_text = true}),
            "'=1\n");
  EXPECT_EQ(Render(Format::kCsv, {"n"}, {{Text("=1")}}, {.header = false}), "=1\n");
}

TEST(ResultSink, SeveralResultsArePartedByAnEmptyLine) {
  EXPECT_EQ(Render(Format::kCsv, {"n"}, {{Integer(1)}}, {}, 2), "n\n1\n\nn\n1\n");
  EXPECT_EQ(Render(Format::kTable, {"n"}, {{Integer(1)}}, {}, 2), "n\n-\n1\n\nn\n-\n1\n");
  EXPECT_EQ(Render(Format::kNdjson, {"n"}, {{Integer(1)}}, {}, 2), "{\"n\":1}\n{\"n\":1}\n");
}

TEST(ResultSink, TsvEscapes) {
  EXPECT_EQ(Render(Format::kTsv, {"a\tb", "c"}, {{Text("x\ty\nz\\\r"), Null()}}),
            "a\\tb\tc\nx\\ty\\nz\\\\\\r\t\n");
}

TEST(ResultSink, JsonIsAnArrayOfObjects) {
  EXPECT_EQ(Render(Format::kJson, {"a", "b"}, {{Integer(1), Null()}, {Real(0.5), Text("x")}}),
            "[\n{\"a\":1,\"b\":null},\n{\"a\":0.5,\"b\":\"x\"}\n]\n");
  EXPECT_EQ(Render(Format::kJson, {"a"}, {}), "[]\n");
  EXPECT_EQ(Render(Format::kNdjson, {"a"}, {}), "");
}

TEST(ResultSink, JsonTextIsAlwaysValid) {
  const auto json = [](std::string_view text) {
    return Render(Format::kNdjson, {"a"}, {{Text(text)}});
  };
  EXPECT_EQ(json("\"\\\n\t\r\x01\x7f"), "{\"a\":\"\\\"\\\\\\n\\t\\u000d\\u0001\\u007f\"}\n");
  EXPECT_EQ(json(kZeroInside), "{\"a\":\"a\\u0000b\"}\n");
  EXPECT_EQ(json("ä€😀"), "{\"a\":\"ä€😀\"}\n");
  const std::string bad = "\xEF\xBF\xBD";
  EXPECT_EQ(json("x\xff"), "{\"a\":\"x" + bad + "\"}\n");
  EXPECT_EQ(json("\xc3"), "{\"a\":\"" + bad + "\"}\n");            // ends too early
  EXPECT_EQ(json("\xc0\xaf"), "{\"a\":\"" + bad + bad + "\"}\n");  // overlong
  EXPECT_EQ(json("\xe0\x80\xaf"), "{\"a\":\"" + bad + bad + bad + "\"}\n");
  EXPECT_EQ(json("\xf0\x80\x80\xaf"), "{\"a\":\"" + bad + bad + bad + bad + "\"}\n");
  EXPECT_EQ(json("\xed\xa0\x80"), "{\"a\":\"" + bad + bad + bad + "\"}\n");       // half a pair
  EXPECT_EQ(json("\xf4\x90\x80\x80").substr(0, 9), "{\"a\":\"" + bad);            // past the end
  EXPECT_EQ(json("\xe2\x82\"").substr(0, 14), "{\"a\":\"" + bad + bad + "\\\"");  // cut short
}

TEST(ResultSink, JsonNumbersAndBlobs) {
  EXPECT_EQ(Render(Format::kNdjson, {"a", "b", "c"},
                   {{Real(std::numeric_limits<double>::infinity()), Real(1e300), Blob("\x01\xff")},
                    {Real(std::numeric_limits<double>::quiet_NaN()), Real(0.1 + 0.2), Null()}}),
            "{\"a\":null,\"b\":1e+300,\"c\":\"01ff\"}\n"
            "{\"a\":null,\"b\":0.30000000000000004,\"c\":null}\n");
}

TEST(ResultSink, JsonKeysAreDistinct) {
  EXPECT_EQ(Render(Format::kNdjson, {"a", "a", "a_2", "a", "\""},
                   {{Integer(1), Integer(2), Integer(3), Integer(4), Integer(5)}}),
            "{\"a\":1,\"a_3\":2,\"a_2\":3,\"a_4\":4,\"\\\"\":5}\n");
  EXPECT_EQ(Render(Format::kNdjson, {"a", "a"}, {{Integer(1), Integer(2)}}),
            "{\"a\":1,\"a_2\":2}\n");
}

TEST(ResultSink, MarkdownEscapes) {
  EXPECT_EQ(Render(Format::kMarkdown, {"a|b", "n"},
                   {{Text("x|y\nz\\"), Integer(1)}, {Text("f<int*>\x1b"), Null()}}),
            "| a\\|b | n |\n| --- | --- |\n| x\\|y<br>z\\\\ | 1 |\n| f\\<int\\*>\\x1b |  |\n");
}

TEST(ResultSink, TableAligns) {
  EXPECT_EQ(Render(Format::kTable, {"rank", "name", "busy_ms", "share_pct", "gbps"},
                   {{Integer(0), Text("gemm"), Real(1234.56789), Real(12.3456), Real(1.23456789)},
                    {Integer(1024), Null(), Real(2), Real(100), Real(2500000)},
                    {Null(), Text("äé字x"), Null(), Null(), Null()}}),
            "rank  name    busy_ms  share_pct     gbps\n"
            "----  -----  --------  ---------  -------\n"
            "   0  gemm   1234.568      12.35  1.23457\n"
            "1024            2.000     100.00  2500000\n"
            "      äé字x\n");
}

TEST(ResultSink, TableTextReachesNoTerminalRaw) {
  const std::string table = Render(Format::kTable, {"a\x1b[31m"},
                                   {{Text("\x1b]0;title\x07")},
                                    {Text("line\nbreak\ttab\rreturn\x7f")},
                                    {Text("c1 \xc2\x9b"
                                          "2J")},
                                    {Text("raw \x9b"
                                          "2J")},
                                    {Text("turned \xe2\x80\xae"
                                          "cba")},
                                    {Text(kZeroInside)}});
  EXPECT_EQ(table,
            "a\\x1b[31m\n----------------------------\n\\x1b]0;title\\x07\n"
            "line\\nbreak\\ttab\\rreturn\\x7f\nc1 \\x9b2J\nraw \xEF\xBF\xBD"
            "2J\n"
            "turned \\u202ecba\na\\x00b\n");
}

SinkOptions OfWidth(int width) { return {.terminal = true, .table = {.width = width}}; }

TEST(ResultSink, TableTextsAreCutToTheWidth) {
  const Rows rows = {{Integer(123456), Text("abcdefghijklmnopqrstuvwxyz"), Text("short")}};
  const std::vector<std::string> names = {"n", "long", "s"};
  EXPECT_NE(Render(Format::kTable, names, rows).find("xyz"), std::string::npos);
  EXPECT_EQ(Render(Format::kTable, names, rows, OfWidth(30)),
            "     n  long             s\n------  ---------------  -----\n"
            "123456  abcdefghijklmn…  short\n(1 row)\n");
}

TEST(ResultSink, TableLeavesOutTheLeastImportantColumns) {
  const Rows rows = {{Text("gemm"), Integer(1), Integer(20), Integer(300)},
                     {Text("copy"), Integer(2), Integer(30), Integer(400)}};
  const std::vector<std::string> names = {"name", "first", "second", "third"};
  SinkOptions options = OfWidth(22);
  EXPECT_EQ(
      Render(Format::kTable, names, rows, options),
      "name  first  second\n----  -----  ------\ngemm      1      20\n"
      "copy      2      30\n(2 rows; 1 column not\nshown: third; --wide\nor --format csv has\n"
      "it)\n");
  options.table.lead = {"third", "name"};
  options.terminal = false;
  EXPECT_EQ(Render(Format::kTable, names, rows, options),
            "name  first  third\n----  -----  -----\ngemm      1    300\n"
            "copy      2    400\n(1 column not shown:\nsecond; --wide or\n--format csv has it)\n");
}

TEST(ResultSink, TableOfOneRowThatDoesNotFitIsReadDownwards) {
  const Rows rows = {{Text("gemm"), Integer(1), Text("a text of more than a line of twenty")}};
  EXPECT_EQ(Render(Format::kTable, {"name", "first", "text"}, rows, OfWidth(20)),
            "-[ row 1 ]----------\nname   gemm\nfirst  1\ntext   a text of more than\n"
            "       a line of twenty\n(1 row)\n");
}

TEST(ResultSink, TableWrapsTheTextsThatAreThePoint) {
  const Rows rows = {{Integer(1), Text("one two three four five six seven eight")},
                     {Integer(2), Text("short")}};
  SinkOptions options = OfWidth(30);
  options.table.wrap = {"text"};
  EXPECT_EQ(Render(Format::kTable, {"n", "text"}, rows, options),
            "n  text\n-  ---------------------------\n1  one two three four five six\n"
            "   seven eight\n2  short\n(2 rows)\n");
  options.table.lead = {"n", "text"};
  options.table.width = 20;  // not even its least width is there
  EXPECT_EQ(Render(Format::kTable, {"n", "text"}, rows, options),
            "-[ row 1 ]----------\nn     1\ntext  one two three four\n      five six seven "
            "eight\n-[ row 2 ]----------\nn     2\ntext  short\n(2 rows)\n");
}

TEST(ResultSink, TableCountsRowsOnATerminal) {
  EXPECT_EQ(Render(Format::kTable, {"n"}, {}, {.terminal = true}), "n\n-\n(0 rows)\n");
  EXPECT_EQ(Render(Format::kTable, {"n"}, {}), "n\n-\n");
}

TEST(ResultSink, TableStreamsAfterTheFirstRows) {
  StringOutput output;
  const auto sink = MakeSink(Format::kTable, {}, output);
  const std::vector<std::string> names = {"n", "t"};
  ASSERT_TRUE(sink->Begin(names).ok());
  const std::vector<Cell> row = {Integer(1), Text("ab")};
  for (int i = 0; i < 999; ++i) ASSERT_TRUE(sink->Row(row).ok());
  ASSERT_TRUE(output.Flush().ok());
  EXPECT_EQ(output.text(), "");
  ASSERT_TRUE(sink->Row(row).ok());
  ASSERT_TRUE(output.Flush().ok());
  EXPECT_EQ(output.text().size(), std::string("n  t\n-  --\n").size() + 1000 * 6);
  const std::vector<Cell> wide = {Integer(12345), Text("abcdef")};
  ASSERT_TRUE(sink->Row(wide).ok());
  ASSERT_TRUE(sink->End().ok());
  ASSERT_TRUE(output.Flush().ok());
  EXPECT_TRUE(output.text().ends_with("1  ab\n12345  abcdef\n"));
}

}  // namespace
}  // namespace tracedb
