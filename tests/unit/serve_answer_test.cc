#include <gtest/gtest.h>
#include <zlib.h>

#include <atomic>
#include <chrono>
#include <thread>

#include "serve/html_table.h"
#include "serve/query_slots.h"
#include "serve/result_cache.h"
#include "serve/running_result.h"
#include "serve/table_query.h"
#include "tracedb/base/sqlite_db.h"
#include "tracedb/query/run/query_run.h"
#include "tracedb/text/gzip_text.h"
#include "tracedb/text/html_text.h"

namespace tracedb {
namespace {

std::string Unpacked(const std::string& packed) {
  z_stream stream{};
  EXPECT_EQ(inflateInit2(&stream, 15 + 16), Z_OK);
  std::string text(1 << 20, '\0');
  stream.next_in = reinterpret_cast<unsigned char*>(const_cast<char*>(packed.data()));
  stream.avail_in = static_cast<unsigned>(packed.size());
  stream.next_out = reinterpret_cast<unsigned char*>(text.data());
  stream.avail_out = static_cast<unsigned>(text.size());
  EXPECT_EQ(inflate(&stream, Z_FINISH), Z_STREAM_END);
  text.resize(stream.total_out);
  inflateEnd(&stream);
  return text;
}

TEST(GzipText, pieces_unpack_to_their_text) {
  for (const size_t piece : {size_t{1}, size_t{1000}, size_t{100'000}}) {
    std::string text;
    for (int i = 0; text.size() < 200'000; ++i) text += std::to_string(i * i) + "\r\n";
    auto gzip = GzipText::Create();
    ASSERT_TRUE(gzip.ok());
    std::string packed;
    for (size_t at = 0; at < text.size(); at += piece) {
      packed += gzip.value()->Add(std::string_view(text).substr(at, piece));
    }
    packed += gzip.value()->Finish();
    EXPECT_TRUE(Unpacked(packed) == text) << piece;
    EXPECT_LT(packed.size(), text.size() / 2);
  }
}

TEST(GzipText, nothing_is_a_whole_file_too) {
  auto gzip = GzipText::Create();
  ASSERT_TRUE(gzip.ok());
  EXPECT_EQ(Unpacked(gzip.value()->Finish()), "");
}

TEST(HtmlText, nothing_of_a_text_becomes_markup) {
  EXPECT_EQ(EscapedHtml("<a href=\"x\" b='y'>&"),
            "&lt;a href=&quot;x&quot; b=&#39;y&#39;&gt;&amp;");
  EXPECT_EQ(EscapedHtml("a\nb"), "a\\nb");
  EXPECT_EQ(HtmlParagraphs("a <b>\nc\n\n`d<` e `f"),
            "<p>a &lt;b&gt; c</p><p><code>d&lt;</code> e <code>f</code></p>");
}

TEST(HtmlText, a_table_escapes_names_and_cuts_long_texts) {
  HtmlTable table;
  const std::vector<std::string> names = {"<n>"};
  ASSERT_TRUE(table.Begin(names).ok());
  const std::string text = "<" + std::string(100'000, 'x');
  const std::vector<Cell> cells = {{SqlType::kText, 0, 0, text}};
  ASSERT_TRUE(table.Row(cells).ok());
  ASSERT_TRUE(table.End().ok());
  EXPECT_EQ(table.html().find("<n>"), std::string::npos);
  EXPECT_EQ(table.html().find("<x"), std::string::npos);
  EXPECT_LT(table.html().size(), 2000u);
}

TEST(ResultCache, those_not_asked_for_go_first) {
  ResultCache cache(10'000);
  WebAnswer answer;
  answer.body = std::string(3000, 'x');
  cache.Keep("a", answer);
  cache.Keep("b", answer);
  EXPECT_NE(cache.Find("a"), nullptr);
  cache.Keep("c", answer);
  EXPECT_NE(cache.Find("a"), nullptr);
  EXPECT_EQ(cache.Find("b"), nullptr);
  EXPECT_LE(cache.bytes(), 10'000u);
  answer.body = std::string(20'000, 'x');
  cache.Keep("too large", answer);
  EXPECT_EQ(cache.Find("too large"), nullptr);
  EXPECT_NE(cache.Find("c"), nullptr);
}

TEST(QuerySlots, no_more_run_than_there_are_slots) {
  QuerySlots slots(2);
  std::atomic<int> running = 0;
  std::atomic<int> most = 0;
  std::vector<std::thread> threads;
  for (int i = 0; i < 8; ++i) {
    threads.emplace_back([&] {
      HeldSlot slot(slots);
      ASSERT_TRUE(slot.Take([] { return false; }));
      const int now = ++running;
      if (now > most) most = now;
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
      --running;
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_LE(most, 2);
}

TEST(QuerySlots, who_gives_up_gets_none) {
  QuerySlots slots(1);
  HeldSlot first(slots);
  ASSERT_TRUE(first.Take([] { return false; }));
  HeldSlot second(slots);
  EXPECT_FALSE(second.Take([] { return true; }));
  first.GiveBack();
  EXPECT_TRUE(second.Take([] { return true; }));
}

TEST(StopReasons, time_runs_from_the_request_and_reasons_are_told_apart) {
  std::atomic<bool> stop = false;
  bool gone = false;
  const auto now = std::chrono::steady_clock::now();
  const auto is_gone = [&] { return gone; };
  StopReasons late(stop, now - std::chrono::hours(2), std::chrono::hours(1), is_gone, {});
  EXPECT_TRUE(late.Check() && late.is_of_one_client() && !late.is_client_gone());
  StopReasons early(stop, now, std::chrono::hours(1), is_gone, {});
  EXPECT_FALSE(early.Check());
  gone = true;
  StopReasons left(stop, now, std::chrono::hours(1), is_gone, {});
  EXPECT_TRUE(left.Check() && left.is_of_one_client() && left.is_client_gone());
  stop = true;
  StopReasons ended(stop, now, std::chrono::hours(1), is_gone, {});
  EXPECT_TRUE(ended.Check() && !ended.is_of_one_client());
}

class TableQuery : public testing::Test {
 protected:
  TableQuery() : db_(SqliteDb::OpenInMemory()) {
    EXPECT_TRUE(db_.value()
                    .Execute("CREATE TABLE \"a\"\"b\" (\"x y\", n); INSERT INTO \"a\"\"b\" VALUES "
                             "(1, 3), (2, 1), (3, 2); CREATE VIEW v AS SELECT 1 AS one")
                    .ok());
  }

  std::string Rows(std::string_view order, const std::vector<std::string>& params) {
    auto doc = MakeTableQuery(db_.value(), "a\"b", order);
    if (!doc.ok()) return doc.error().what;
    auto query = PreparedQuery::Prepare(db_.value(), doc.value(), {params, ""});
    if (!query.ok()) return query.error().what;
    StringOutput text;
    const auto sink = MakeSink(Format::kCsv, {.header = false}, text);
    EXPECT_TRUE(query.value().Run(*sink).ok());
    EXPECT_TRUE(text.Flush().ok());
    return text.text();
  }

  Result<SqliteDb> db_;
};

TEST_F(TableQuery, limit_offset_and_order) {
  EXPECT_EQ(Rows("", {}), "1,3\n2,1\n3,2\n");
  EXPECT_EQ(Rows("-n", {"limit=2"}), "1,3\n3,2\n");
  EXPECT_EQ(Rows("n,-x y", {"offset=1"}), "3,2\n1,3\n");
  EXPECT_EQ(Rows("", {"limit=null"}), "1,3\n2,1\n3,2\n");
}

TEST_F(TableQuery, what_is_no_column_orders_nothing) {
  for (const char* order : {"m", "n DESC", "\"n\"", "1", "n;", ",", "--n"}) {
    EXPECT_EQ(Rows(order, {}), "order: there is no such column") << order;
  }
}

TEST_F(TableQuery, rows_are_counted_as_far_as_asked) {
  SqliteDb& db = db_.value();
  EXPECT_EQ(CountRows(db, "a\"b", 10).value(), 3);
  EXPECT_EQ(CountRows(db, "a\"b", 2).value(), 2);
  EXPECT_EQ(CountAskedRows(db, "a\"b", {"offset=2"}, 10).value(), 1);
  EXPECT_EQ(CountAskedRows(db, "a\"b", {"limit=7"}, 10).value(), 7);
  EXPECT_TRUE(HasTable(db, "v").value());
  EXPECT_FALSE(HasTable(db, "sqlite_schema").value());
  EXPECT_EQ(ListTables(db).value().size(), 2u);
}

}  // namespace
}  // namespace tracedb
