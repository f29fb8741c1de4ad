#include "tracedb/report/report_page.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "report/page_parts.h"
#include "report/page_policy.h"
#include "report/report_result.h"
#include "report/report_sections.h"

namespace tracedb {
namespace {

Cell Text(std::string_view text) { return {SqlType::kText, 0, 0, text}; }
Cell Integer(int64_t number) { return {SqlType::kInteger, number, 0, ""}; }
Cell Real(double number) { return {SqlType::kReal, 0, number, ""}; }

QueryDoc Doc() {
  auto doc = ParseQueryDoc("q.sql",
                           "-- title: T\n-- column: rank int(id) The rank.\n"
                           "-- column: ms real(ms) A time.\n-- column: name text Its name.\n"
                           "SELECT 1, 2, 3");
  EXPECT_TRUE(doc.ok());
  return std::move(doc).value();
}

constexpr std::string_view kColumns[] = {
    R"({"name":"rank","type":"int","unit":"id","about":"The rank.","values":[)",
    R"({"name":"ms","type":"real","unit":"ms","about":"A time.","values":[)",
    R"({"name":"name","type":"text","unit":"","about":"Its name.","texts":[)"};

std::string Expected(int rows, int found, const std::string& ranks, const std::string& times,
                     const std::string& texts, const std::string& places) {
  return "{\"rows\":" + std::to_string(rows) + ",\"rows_found\":" + std::to_string(found) +
         ",\"columns\":[" + std::string(kColumns[0]) + ranks + "]}," + std::string(kColumns[1]) +
         times + "]}," + std::string(kColumns[2]) + texts + "],\"values\":[" + places + "]}]}";
}

const std::vector<std::string> kNames = {"rank", "ms", "name"};

TEST(ReportResult, a_text_stands_once_and_rows_beyond_the_bound_are_counted) {
  const QueryDoc doc = Doc();
  ReportResult result(doc, 3, 1 << 20);
  ASSERT_TRUE(result.Begin(kNames).ok());
  const std::vector<std::vector<Cell>> rows = {{Integer(0), Real(0.1), Text("a")},
                                               {Integer(1), Real(1e-9), Text("b\"<")},
                                               {Cell{}, Cell{}, Text("a")},
                                               {Integer(3), Real(5), Text("c")}};
  for (const auto& row : rows) ASSERT_TRUE(result.Row(row).ok());
  EXPECT_EQ(result.rows_found(), 4);
  EXPECT_EQ(result.Json(),
            Expected(3, 4, "0,1,null", "0.1,1e-09,null", R"("a","b\"\u003c")", "0,1,0"));
}

TEST(ReportResult, texts_are_cut_between_characters_and_lists_of_numbers_are_not) {
  const QueryDoc doc = Doc();
  ReportResult result(doc, 10, 1 << 20);
  ASSERT_TRUE(result.Begin(kNames).ok());
  const std::string list = "[" + std::string(900, '1') + ",2]";
  const std::string umlauts = "x" + [] {
    std::string text;
    for (int i = 0; i < 400; ++i) text += "ä";
    return text;
  }();
  for (const std::string& text : {list, umlauts, std::string("\xE2\x80\xAEgnp"), std::string()}) {
    ASSERT_TRUE(result.Row(std::vector<Cell>{Integer(0), Real(0), Text(text)}).ok());
  }
  ASSERT_TRUE(result.Row(std::vector<Cell>{Integer(0), Real(0), Integer(7)}).ok());
  const std::string cut = umlauts.substr(0, 599) + "…";
  EXPECT_EQ(result.Json(),
            Expected(5, 5, "0,0,0,0,0", "0,0,0,0,0",
                     "\"" + list + "\",\"" + cut + R"(","\\u202egnp","","7")", "0,1,2,3,4"));
}

TEST(ReportResult, many_long_texts_do_not_fill_the_page) {
  const QueryDoc doc = Doc();
  ReportResult result(doc, 100'000, 1 << 20);
  ASSERT_TRUE(result.Begin(kNames).ok());
  for (int i = 0; i < 20'000; ++i) {
    const std::string text = std::to_string(i) + std::string(150, 'x');
    ASSERT_TRUE(result.Row(std::vector<Cell>{Integer(0), Real(0), Text(text)}).ok());
  }
  const std::string json = result.Json();
  EXPECT_LT(json.size(), ReportResult::kTextsBytesMax + 20'000 * 10);
  EXPECT_TRUE(json.ends_with(",-1]}]}"));
}

TEST(ReportResult, rows_end_where_they_take_too_much) {
  const QueryDoc doc = Doc();
  ReportResult result(doc, 100, 12);
  ASSERT_TRUE(result.Begin(kNames).ok());
  for (const std::string_view name : {"0123456", "0123456", "0123456", ""}) {
    ASSERT_TRUE(result.Row(std::vector<Cell>{Integer(1), Real(1), Text(name)}).ok());
  }
  EXPECT_EQ(result.Json(), Expected(2, 4, "1,1", "1,1", R"("0123456")", "0,0"));
}

TEST(StepSums, of_each_device_one_row) {
  const auto doc =
      ParseQueryDoc("q.sql",
                    "-- title: T\n-- column: rank int(id) R.\n-- column: device text D.\n"
                    "-- column: step int(count) S.\n-- column: start_ms real(ms) B.\n"
                    "-- column: idle_ms real(ms) I.\n-- column: p_pct real(pct) P.\n"
                    "SELECT 1, 2, 3, 4, 5, 6");
  ASSERT_TRUE(doc.ok());
  ReportResult result(doc.value(), 100, 1 << 20);
  StepSums sums(doc.value(), result);
  ASSERT_TRUE(sums.Begin(std::vector<std::string>{"a", "b", "c", "d", "e", "f"}).ok());
  for (const int rank : {3, 1, 3}) {
    for (const std::string_view device : {"0", "1"}) {
      ASSERT_TRUE(sums.Row(std::vector<Cell>{Integer(rank), Text(device), Integer(4),
                                             Real(8.0 - rank), Real(1.5), Real(9)})
                      .ok());
    }
  }
  ASSERT_TRUE(
      sums.Row(std::vector<Cell>{Integer(1), Text("0"), Cell{}, Real(2), Real(0.25), Real(9)})
          .ok());
  ASSERT_TRUE(sums.End().ok());
  const std::string json = result.Json();
  for (const char* values :
       {"\"values\":[3,3,1,1]", "\"values\":[0,1,0,1]", "\"values\":[null,null,null,null]",
        "\"values\":[5,5,2,7]", "\"values\":[3,3,1.75,1.5]"}) {
    EXPECT_NE(json.find(values), std::string::npos) << values << json;
  }
}

TEST(ReportResult, columns_other_than_documented_are_an_error) {
  const QueryDoc doc = Doc();
  ReportResult result(doc, 1, 1 << 20);
  const std::vector<std::string> two = {"rank", "ms"};
  EXPECT_FALSE(result.Begin(two).ok());
}

TEST(PagePolicy, hashes_are_base64) {
  // Of no bytes, and of "abc".
  EXPECT_EQ(PolicyHash("e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"),
            "'sha256-47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU='");
  EXPECT_EQ(PolicyHash("ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"),
            "'sha256-ungWv48Bz+pBQUDeXa4iI7ADYaOWF3qctBD/YfIAFa0='");
}

TEST(PageParts, the_library_has_its_licence_and_nothing_ends_its_element) {
  EXPECT_GT(ChartLibrary().text.size(), 200'000U);
  EXPECT_NE(ChartLibraryLicence().find("BSD-3-Clause"), std::string_view::npos);
  for (const PagePart& part : {ChartLibrary(), PageScript(), PageStyle()}) {
    EXPECT_EQ(part.text.find("</s"), std::string_view::npos);
    EXPECT_EQ(part.sha256.size(), 64U);
    EXPECT_NE(ReportPolicy().find(PolicyHash(part.sha256)), std::string::npos);
  }
}

QueryCatalog CatalogOf(const std::vector<std::string>& names) {
  std::vector<QueryText> texts;
  for (const std::string& name : names) {
    texts.push_back({name, "-- title: T\n-- column: a int(id) A.\nSELECT 1 AS a"});
  }
  auto catalog = QueryCatalog::Load(texts);
  EXPECT_TRUE(catalog.ok());
  return std::move(catalog).value();
}

TEST(ReportSections, what_the_catalog_lacks_is_left_out_or_replaced) {
  const auto queries_of = [](const std::vector<const ReportSection*>& sections) {
    std::vector<std::string> queries;
    for (const ReportSection* section : sections) {
      queries.push_back(std::string(section->id) + "=" + std::string(section->query));
    }
    return queries;
  };
  EXPECT_EQ(queries_of(SectionsOf(CatalogOf({"step_times.sql", "overlap.sql"}))),
            (std::vector<std::string>{"overview=overlap", "partition=overlap", "steps=step_times",
                                      "overlap=overlap"}));
  EXPECT_EQ(queries_of(SectionsOf(CatalogOf({"time_partition.sql", "overlap.sql"}))),
            (std::vector<std::string>{"overview=time_partition", "partition=time_partition",
                                      "overlap=overlap"}));
  EXPECT_TRUE(SectionsOf(CatalogOf({"other.sql"})).empty());
}

TEST(ReportSections, without_gpu_activity_the_host_is_shown) {
  const auto ids_of = [](bool host_only) {
    const std::vector<QueryText> texts = {
        {"check.sql", "-- title: C\nSELECT 1"},
        {"report/headline.sql", "-- title: H\n-- why_empty: check\nSELECT 1"},
        {"overlap.sql", "-- title: O\n-- why_empty: check\nSELECT 1"},
        {"step_times.sql", "-- title: S\nSELECT 1"},
        {"module_time.sql", "-- title: M\nSELECT 1"},
        {"ops_top.sql", "-- title: T\nSELECT 1"}};
    const auto catalog = QueryCatalog::Load(texts);
    std::vector<std::string> ids;
    for (const ReportSection* section : SectionsOf(catalog.value(), host_only)) {
      ids.push_back(std::string(section->id) + "=" + std::string(section->chart));
    }
    return ids;
  };
  EXPECT_EQ(ids_of(false), (std::vector<std::string>{"overview=overview", "headline=headline",
                                                     "partition=partition", "steps=steps",
                                                     "overlap=overlap", "modules=top_modules"}));
  EXPECT_EQ(ids_of(true), (std::vector<std::string>{"headline=headline", "steps=steps", "ops=table",
                                                    "modules=table"}));
}

TEST(ReportSections, an_anchor_is_once_on_a_page) {
  std::vector<std::string> names;
  for (const ReportSection& section : ReportSections()) {
    const std::string file = std::string(section.query) + ".sql";
    if (std::find(names.begin(), names.end(), file) == names.end()) names.push_back(file);
  }
  const QueryCatalog catalog = CatalogOf(names);
  for (const bool host_only : {false, true}) {
    std::vector<std::string_view> ids;
    for (const ReportSection* section : SectionsOf(catalog, host_only)) {
      if (!section->id.empty()) ids.push_back(section->id);
    }
    std::sort(ids.begin(), ids.end());
    EXPECT_EQ(std::adjacent_find(ids.begin(), ids.end()), ids.end());
  }
}

Thinning ThinningOfNamed(const char* query, int64_t ranks, int64_t streams,
                         const ShownRun& run = {}) {
  QueryDoc doc;
  doc.name = query;
  QueryParam param;
  for (const char* name : {"run", "capture"}) {
    param.name = name;
    doc.params.push_back(param);
  }
  ReportScale scale;
  scale.run = run;
  scale.ranks = ranks;
  scale.streams = streams;
  return ThinningOf(doc, scale);
}

TEST(ReportSections, more_streams_are_cut_into_fewer_pieces) {
  EXPECT_EQ(ThinningOfNamed("report/timeline", 1, 1).params[0], "per_stream=8000");
  EXPECT_EQ(ThinningOfNamed("report/timeline", 64, 256).params[0], "per_stream=70");
  EXPECT_EQ(ThinningOfNamed("report/timeline", 1000, 100'000).params[0], "per_stream=45");
  EXPECT_NE(ThinningOfNamed("report/timeline", 1000, 100'000).note.find("the 400 busiest"),
            std::string::npos);
  EXPECT_EQ(ThinningOfNamed("report/memory_line", 1000, 1).params[0], "bins=20");
  EXPECT_TRUE(ThinningOfNamed("overlap", 1000, 1).params.empty());
}

TEST(ReportSections, run_and_capture_are_asked_for_where_there_is_a_choice) {
  using Params = std::vector<std::string>;
  EXPECT_EQ(ThinningOfNamed("overlap", 1, 1, {"job", 1, 1, {}}).params, Params{});
  EXPECT_EQ(ThinningOfNamed("overlap", 1, 1, {"job", 2, 3, {}}).params, Params{"run=job"});
  const Thinning steps = ThinningOfNamed("step_times", 1, 1, {"job", 1, 3, {}});
  EXPECT_EQ(steps.params, Params{"capture=1"});
  EXPECT_EQ(steps.note, "Capture 1 of 3.");
  EXPECT_EQ(ThinningOfNamed("overlap", 1, 1, {"job", 1, 3, 2}).params, Params{"capture=2"});
  EXPECT_EQ(AboutRun({"job", 1, 1, {}}), "");
}

}  // namespace
}  // namespace tracedb
