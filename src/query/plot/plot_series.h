// Rows drawn as lines: a sparkline for each series, over places that all of them share.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tracedb/query/plot/plot_frame.h"
#include "tracedb/text/result_sink.h"

namespace tracedb {

// A value that can be sorted as SQLite does: NULL, numbers, texts, blobs.
struct PlaceKey {
  int kind = 0;
  long double number = 0;  // holds every int64 and every double
  std::string text;

  auto operator<=>(const PlaceKey&) const = default;
};

// Gathers points, and draws them. Bounded: what is beyond is counted.
class PlotSeries {
 public:
  static constexpr size_t kSeriesMax = 64;
  static constexpr size_t kPointsMax = 200'000;

  // Names of columns.
  PlotSeries(std::vector<std::string> by, std::string over, std::string value);

  void Add(std::span<const Cell> by, const Cell& over, const Cell& value);

  int64_t left_out() const { return left_out_; }  // rows that belong to no series drawn
  bool empty() const { return series_.empty(); }
  std::string Draw(const PlotStyle& style) const;

 private:
  struct Series {
    std::vector<Shown> labels;
    Shown lowest_text, highest_text, last_text;
    double lowest = 0;
    double highest = 0;
    PlaceKey last_place;
    bool has_point = false;
  };
  // The first or the last place of all.
  struct End {
    PlaceKey key;
    Shown text;
  };
  struct Point {
    size_t series = 0;
    size_t place = 0;  // by when it was met first
    double value = 0;
  };

  std::vector<PlotColumn> Columns() const;
  std::vector<size_t> PlaceOrder() const;
  void AddPlace(const PlaceKey& key, const Cell& over);
  std::string Caption(const PlotStyle& style, size_t cells) const;

  std::vector<std::string> by_;
  std::string over_;
  std::string value_;
  std::vector<Series> series_;
  std::map<std::vector<PlaceKey>, size_t> series_by_key_;
  std::map<PlaceKey, size_t> places_;
  End first_;
  End last_;
  std::vector<Point> points_;
  int64_t left_out_ = 0;
};

}  // namespace tracedb
