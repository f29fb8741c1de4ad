#include "query/plot/plot_scale.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <cstdlib>
#include <numeric>
#include <random>
#include <vector>

#include "query/plot/plot_settings.h"

namespace tracedb {
namespace {

// The slow way: of all lengths the one nearest to value / full * units, the longer of two.
int64_t NearestUnits(int64_t value, int64_t full, int64_t units) {
  int64_t nearest = 0;
  for (int64_t i = 0; i <= units; ++i) {
    if (std::abs(value * units - i * full) <= std::abs(value * units - nearest * full)) nearest = i;
  }
  return nearest;
}

TEST(PlotScale, bars_are_as_long_as_the_slow_way_says) {
  std::mt19937_64 random(1);
  for (int round = 0; round < 3000; ++round) {
    const auto full = static_cast<int64_t>(random() % (round % 2 == 0 ? 50 : 1'000'000'000) + 1);
    const auto value = static_cast<int64_t>(random() % static_cast<uint64_t>(full + 1));
    const auto units = static_cast<int64_t>(random() % 1600);
    EXPECT_EQ(
        BarUnits(static_cast<double>(value), static_cast<double>(full), static_cast<size_t>(units)),
        static_cast<size_t>(NearestUnits(value, full, units)))
        << value << " of " << full << " in " << units;
  }
}

TEST(PlotScale, bars_of_nothing_and_of_too_much) {
  EXPECT_EQ(BarUnits(0, 5, 80), 0u);
  EXPECT_EQ(BarUnits(-1, 5, 80), 0u);
  EXPECT_EQ(BarUnits(0, 0, 80), 0u);
  EXPECT_EQ(BarUnits(5, 5, 80), 80u);
  EXPECT_EQ(BarUnits(6, 5, 80), 80u);
  EXPECT_EQ(BarUnits(1e300, 1e300, 8000), 8000u);
  EXPECT_EQ(BarUnits(5e-324, 5e-324, 8000), 8000u);
  EXPECT_EQ(BarUnits(5e-324, 1e300, 8000), 0u);
}

TEST(PlotScale, both_sides_of_zero_have_one_scale) {
  std::mt19937_64 random(2);
  for (int round = 0; round < 3000; ++round) {
    const auto low = static_cast<double>(random() % 1000);
    const auto high = static_cast<double>(random() % 1000);
    const size_t cells = 2 + random() % 200;
    const ZeroSplit split = SplitAtZero(-low, high, cells);
    SCOPED_TRACE(testing::Message() << -low << " to " << high << " in " << cells);
    EXPECT_EQ(split.below + split.above, cells);
    EXPECT_EQ(split.below > 0, low > 0);
    EXPECT_EQ(split.above > 0, high > 0 || low == 0);
    // Everything fits, and a cell is worth the same on both sides.
    EXPECT_GE(split.full_below * (1 + 1e-12), low);
    EXPECT_GE(split.full_above * (1 + 1e-12), high);
    EXPECT_NEAR(split.full_below * static_cast<double>(split.above),
                split.full_above * static_cast<double>(split.below), 1e-6);
  }
}

TEST(PlotScale, shares_add_up_and_their_borders_are_the_nearest) {
  std::mt19937_64 random(3);
  for (int round = 0; round < 2000; ++round) {
    const auto cells = static_cast<int64_t>(random() % 300);
    std::vector<int64_t> wholes;
    std::vector<double> parts;
    for (size_t i = 0; i < 2 + random() % 7; ++i) {
      wholes.push_back(static_cast<int64_t>(random() % 4 == 0 ? 0 : random() % 100'000));
      parts.push_back(static_cast<double>(wholes.back()));
    }
    const int64_t sum = std::accumulate(wholes.begin(), wholes.end(), int64_t{0});
    if (sum == 0) continue;
    const std::vector<size_t> shares = ShareCells(parts, static_cast<size_t>(cells));
    ASSERT_EQ(shares.size(), parts.size());
    int64_t border = 0;
    int64_t so_far = 0;
    for (size_t i = 0; i < shares.size(); ++i) {
      border += static_cast<int64_t>(shares[i]);
      so_far += wholes[i];
      EXPECT_EQ(border, NearestUnits(so_far, sum, cells)) << "border " << i << " of " << sum;
      EXPECT_TRUE(wholes[i] > 0 || shares[i] == 0) << shares[i];
    }
    EXPECT_EQ(border, cells);
  }
}

TEST(PlotScale, shares_of_nothing_are_nothing) {
  EXPECT_EQ(ShareCells(std::vector<double>{0, 0, 0}, 40), (std::vector<size_t>{0, 0, 0}));
  EXPECT_EQ(ShareCells(std::vector<double>{-5, 0}, 40), (std::vector<size_t>{0, 0}));
  EXPECT_EQ(ShareCells(std::vector<double>{-5, 1, 1}, 40), (std::vector<size_t>{0, 20, 20}));
}

TEST(PlotScale, levels_cut_the_range_in_equal_pieces) {
  for (int64_t lowest = -20; lowest <= 20; lowest += 5) {
    for (int64_t highest = lowest + 1; highest <= 40; ++highest) {
      for (int64_t value = lowest; value <= highest; ++value) {
        int64_t level = 0;  // the highest whose piece begins at the value or below it
        for (int64_t i = 0; i < 8; ++i) {
          if ((highest - lowest) * i <= (value - lowest) * 8) level = i;
        }
        EXPECT_EQ(LevelOf(static_cast<double>(value), static_cast<double>(lowest),
                          static_cast<double>(highest), 8),
                  static_cast<size_t>(level))
            << value << " in " << lowest << " to " << highest;
      }
    }
  }
  EXPECT_EQ(LevelOf(7, 7, 7, 8), 4u);
}

TEST(PlotScale, places_are_spread_over_the_cells_in_their_order) {
  for (size_t cells = 1; cells < 40; ++cells) {
    for (size_t count = 1; count < 100; ++count) {
      std::vector<size_t> taken(cells);
      size_t before = 0;
      for (size_t i = 0; i < count; ++i) {
        const size_t cell = CellOfPlace(i, count, cells);
        ASSERT_LT(cell, cells);
        ASSERT_GE(cell, before);
        before = cell;
        ++taken[cell];
      }
      for (size_t i = 0; i < cells; ++i) {
        if (count <= cells) {
          EXPECT_EQ(taken[i], i < count ? 1u : 0u);
        } else {
          EXPECT_GE(taken[i], count / cells);
          EXPECT_LE(taken[i], (count + cells - 1) / cells);
        }
      }
    }
  }
}

TEST(PlotSettings, columns_are_a_number_within_bounds) {
  EXPECT_EQ(WidthFromText(nullptr), 80u);
  for (const char* text : {"", "0", "-5", "wide", "80x", " 80", "1e2"}) {
    EXPECT_EQ(WidthFromText(text), 80u) << text;
  }
  EXPECT_EQ(WidthFromText("1"), 20u);
  EXPECT_EQ(WidthFromText("132"), 132u);
  EXPECT_EQ(WidthFromText("5000"), 1000u);
  EXPECT_EQ(WidthFromText("99999999999999999999999"), 1000u);
}

TEST(PlotSettings, the_first_locale_that_is_set_decides) {
  EXPECT_TRUE(IsUtf8Locale(nullptr, nullptr, "en_US.UTF-8"));
  EXPECT_TRUE(IsUtf8Locale("", "C.utf8", "C"));
  EXPECT_TRUE(IsUtf8Locale("de_AT.utf-8@euro", "C", "C"));
  EXPECT_FALSE(IsUtf8Locale("C", "C.UTF-8", "C.UTF-8"));
  EXPECT_FALSE(IsUtf8Locale(nullptr, "de_DE.ISO-8859-1", "C.UTF-8"));
  EXPECT_FALSE(IsUtf8Locale(nullptr, nullptr, nullptr));
  EXPECT_FALSE(IsUtf8Locale("", "", ""));
}

}  // namespace
}  // namespace tracedb
