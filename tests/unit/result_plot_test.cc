#include "tracedb/query/plot/result_plot.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include "tracedb/text/result_text.h"

namespace tracedb {
namespace {

Cell Null() { return {}; }
Cell Integer(int64_t value) { return {SqlType::kInteger, value, 0, {}}; }
Cell Real(double value) { return {SqlType::kReal, 0, value, {}}; }
Cell Text(std::string_view text) { return {SqlType::kText, 0, 0, text}; }

using Names = std::vector<std::string>;
using Rows = std::vector<std::vector<Cell>>;

Result<std::string> Plot(const PlotOptions& options, const Names& names, const Rows& rows) {
  StringOutput output;
  const auto sink = MakePlotSink(options, output);
  TRACEDB_TRY(sink->Begin(names));
  for (const auto& row : rows) TRACEDB_TRY(sink->Row(row));
  TRACEDB_TRY(sink->End());
  TRACEDB_TRY(output.Flush());
  return output.text();
}

PlotOptions Options(std::string_view line, size_t width, bool unicode = true) {
  PlotOptions options;
  options.file = "a.sql";
  if (!line.empty()) options.spec = ParsePlot(line, {}).value();
  options.style.width = width;
  options.style.unicode = unicode;
  return options;
}

std::string Drawn(std::string_view line, size_t width, const Names& names, const Rows& rows,
                  bool unicode = true) {
  auto text = Plot(Options(line, width, unicode), names, rows);
  EXPECT_TRUE(text.ok()) << text.error().what;
  return text.ok() ? text.value() : "";
}

std::vector<std::string> Lines(const std::string& text) {
  std::vector<std::string> lines;
  size_t start = 0;
  for (size_t end = text.find('\n'); end != std::string::npos; end = text.find('\n', start)) {
    lines.push_back(text.substr(start, end - start));
    start = end + 1;
  }
  return lines;
}

// Eighths of a cell that the blocks of a line fill.
int64_t EighthsOf(std::string_view line) {
  constexpr std::array<std::string_view, 8> kBlocks = {"▏", "▎", "▍", "▌", "▋", "▊", "▉", "█"};
  int64_t eighths = 0;
  for (size_t i = 0; i < kBlocks.size(); ++i) {
    for (size_t at = line.find(kBlocks[i]); at != std::string_view::npos;
         at = line.find(kBlocks[i], at + 1)) {
      eighths += static_cast<int64_t>(i) + 1;
    }
  }
  return eighths;
}

TEST(ResultPlot, bars_of_any_width_are_exact_to_the_eighth) {
  std::mt19937_64 random(4);
  for (int round = 0; round < 300; ++round) {
    const size_t width = 30 + random() % 200;
    std::vector<int64_t> values;
    Rows rows;
    for (size_t i = 0; i < 1 + random() % 20; ++i) {
      values.push_back(static_cast<int64_t>(random() % 10'000));
      rows.push_back({Integer(static_cast<int64_t>(i)), Integer(values.back())});
    }
    values.push_back(10'000);
    rows.push_back({Integer(99), Integer(values.back())});
    const std::string text = Drawn("bar v by k", width, {"k", "v"}, rows);
    const std::vector<std::string> lines = Lines(text);
    ASSERT_EQ(lines.size(), rows.size() + 1);
    // "99" and "10000", with a gap behind each.
    const auto cells = static_cast<int64_t>(width - 2 - 2 - 5 - 2);
    EXPECT_EQ(DisplayWidth(lines.back()), width);
    for (size_t i = 0; i < values.size(); ++i) {
      int64_t nearest = 0;
      for (int64_t e = 0; e <= cells * 8; ++e) {
        const int64_t wanted = values[i] * cells * 8;
        if (std::abs(wanted - e * 10'000) <= std::abs(wanted - nearest * 10'000)) nearest = e;
      }
      if (values[i] > 0) nearest = std::max<int64_t>(nearest, 1);
      EXPECT_EQ(EighthsOf(lines[i + 1]), nearest) << lines[i + 1];
      EXPECT_NE(lines[i + 1].find(std::to_string(values[i])), std::string::npos);
    }
  }
}

// Texts that terminals take in odd ways.
std::string OddText(std::mt19937_64& random) {
  constexpr std::array<std::string_view, 10> kPieces = {
      "a", "\x1b[31m", "\n", "宽", "e\xCC\x81", "\xE2\x80\xAE", "\xff", "😀", "\x7f", " "};
  std::string text;
  for (size_t i = random() % 60; i > 0; --i) text += kPieces[random() % kPieces.size()];
  return text;
}

TEST(ResultPlot, no_line_of_odd_rows_is_wider_than_the_terminal) {
  constexpr std::array<std::string_view, 4> kPlots = {"", "bar v by k", "stacked v, w by k",
                                                      "line v over w by k"};
  constexpr double kInfinite = std::numeric_limits<double>::infinity();
  const std::vector<Cell> values = {
      Null(),          Real(0),      Real(-3.5),        Real(1e300),
      Real(-1e300),    Real(5e-324), Integer(7),        Integer(INT64_MIN),
      Real(kInfinite), Integer(1),   Integer(INT64_MAX)};
  std::mt19937_64 random(5);
  for (int round = 0; round < 2000; ++round) {
    const size_t width = 90 + random() % 100;  // three numbers of 20 digits fit
    std::vector<std::string> texts;
    for (size_t i = 0; i < random() % 8; ++i) texts.push_back(OddText(random));
    Rows rows = {{Text("first"), Integer(1), Integer(2)}};
    for (const std::string& text : texts) {
      rows.push_back({random() % 5 == 0 ? Null() : Text(text), values[random() % values.size()],
                      values[random() % values.size()]});
    }
    const bool unicode = random() % 2 == 0;
    const std::string text =
        Drawn(kPlots[random() % kPlots.size()], width, {"k", "v", "w"}, rows, unicode);
    for (const std::string& line : Lines(text)) {
      EXPECT_LE(DisplayWidth(line), width) << line;
      EXPECT_EQ(ShownText(line), line);  // nothing in it does anything to a terminal
      EXPECT_FALSE(line.ends_with(' ')) << line;
      if (!unicode) {
        EXPECT_TRUE(std::all_of(line.begin(), line.end(), [](char c) { return c > 0; })) << line;
      }
    }
  }
}

TEST(ResultPlot, bars_below_zero_go_to_the_left) {
  EXPECT_EQ(Drawn("bar v by k", 27, {"k", "v"},
                  {{Text("a"), Integer(-4)},
                   {Text("b"), Integer(12)},
                   {Text("c"), Integer(0)},
                   {Text("d"), Integer(-1)},
                   {Text("e"), Null()},
                   {Text("f"), Real(1e-9)}}),
            "k      v      0\n"
            "a     -4  ████│\n"
            "b     12      │████████████\n"
            "c      0      │\n"
            "d     -1     █│\n"
            "e             │\n"
            "f  1e-09      │▏\n");
}

TEST(ResultPlot, shares_have_colours_where_the_style_has) {
  PlotOptions options = Options("stacked a, b by k", 40);
  options.style.color = true;
  auto text = Plot(options, {"k", "a", "b"}, {{Text("x"), Integer(1), Integer(1)}});
  ASSERT_TRUE(text.ok());
  EXPECT_EQ(text.value(),
            "\033[32m█\033[0m a  \033[31m▓\033[0m b\n"
            "k  █  ▓  0%                         100%\n"
            "x  1  1  \033[32m████████████████\033[0m\033[31m▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓\033[0m\n");
}

TEST(ResultPlot, shares_without_a_sum_are_empty) {
  EXPECT_EQ(Drawn("stacked a, b by k", 30, {"k", "a", "b"},
                  {{Text("x"), Integer(0), Null()}, {Text("y"), Integer(-5), Text("t")}}, false),
            "# a  = b\n"
            "k   #  =  0%              100%\n"
            "x   0\n"
            "y  -5  t\n");
}

TEST(ResultPlot, lines_have_gaps_and_one_scale) {
  EXPECT_EQ(Drawn("line v over x by k", 80, {"k", "x", "v"},
                  {{Text("a"), Integer(3), Integer(80)},
                   {Text("a"), Integer(1), Integer(0)},
                   {Text("b"), Integer(2), Integer(40)},
                   {Text("b"), Integer(1), Null()},
                   {Text("c"), Integer(4), Null()}}),
            "v over x, 1 to 4  ▁ 0 to █ 80\n"
            "k  min  max  last\n"
            "a    0   80    80  ▁▁▁   ███\n"
            "b   40   40    40     ▅▅▅\n"
            "c\n");
}

TEST(ResultPlot, without_a_plot_line_the_columns_are_chosen) {
  EXPECT_EQ(
      Drawn("", 30, {"n", "k", "ms", "more"}, {{Integer(5), Text("a"), Real(0.5), Real(9)}}, false),
      "n  k   ms  0               0.5\n5  a  0.5  ###################\n");
  // The last of integers, where nothing is real.
  EXPECT_EQ(Drawn("", 30, {"k", "n", "m"}, {{Text("a"), Integer(5), Integer(6)}}, false),
            "k  n  m  0                   6\na  5  6  #####################\n");
  // What is behind the value, where nothing is in front.
  EXPECT_EQ(Drawn("", 30, {"v", "k"}, {{Real(2), Text("a")}}, false),
            "k  v  0                      2\na  2  ########################\n");
  auto none = Plot(Options("", 80), {"k"}, {{Text("a")}});
  ASSERT_FALSE(none.ok());
  EXPECT_EQ(none.error().what, "a.sql: nothing to plot: no column holds numbers");
}

TEST(ResultPlot, a_column_that_the_result_has_not_is_an_error) {
  for (std::string_view line : {"bar x by k", "bar v by x", "line v over x by k"}) {
    auto text = Plot(Options(line, 80), {"k", "v"}, {});
    ASSERT_FALSE(text.ok()) << line;
    EXPECT_EQ(text.error().what, "a.sql: plot: the result has no column 'x'");
    EXPECT_EQ(text.error().advice, "its columns are k, v");
  }
}

TEST(ResultPlot, what_is_too_much_is_counted) {
  Rows rows;
  for (int64_t i = 0; i < 66; ++i) rows.push_back({Integer(i), Integer(1), Integer(i)});
  std::string text = Drawn("bar v by k", 40, {"k", "v", "x"}, rows);
  EXPECT_EQ(Lines(text).size(), 66u);
  EXPECT_TRUE(text.ends_with("… 2 more rows\n"));
  rows.pop_back();
  text = Drawn("line v over x by k", 40, {"k", "v", "x"}, rows, false);
  EXPECT_TRUE(text.ends_with("... 1 more row\n")) << text;
}

TEST(QueryPlot, reads_lines_with_commas_or_without) {
  for (std::string_view text : {"stacked a, b c by d,e", "stacked a,b,c by d e", "bar a",
                                "line a over b by c", "line a over b"}) {
    auto plot = ParsePlot(text, {});
    ASSERT_TRUE(plot.ok()) << text;
    auto again = ParsePlot(DescribePlot(plot.value()), {});
    ASSERT_TRUE(again.ok());
    EXPECT_EQ(DescribePlot(again.value()), DescribePlot(plot.value()));
  }
  EXPECT_EQ(DescribePlot(ParsePlot("stacked a,b c by d,e", {}).value()), "stacked a, b, c by d, e");
}

}  // namespace
}  // namespace tracedb
