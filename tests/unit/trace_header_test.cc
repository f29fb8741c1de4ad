// What a trace's header says, and where its rank comes from.

#include "ingest/build/trace_header.h"

#include <gtest/gtest.h>

#define SIMDJSON_EXCEPTIONS 0
#include <simdjson.h>

#include <string>

#include "tracedb/ingest/read/rank_in_name.h"

namespace tracedb {
namespace {

TraceHeader Read(const HeaderReader::Entries& entries) {
  EventIssues issues;
  TraceHeader header = ReadTraceHeader(entries, issues);
  EXPECT_FALSE(issues.Any());
  return header;
}

TEST(TraceHeader, a_header_without_keys_says_nothing) {
  const TraceHeader header = Read({});
  EXPECT_EQ(header.rank, std::nullopt);
  EXPECT_EQ(header.json, std::nullopt);
  EXPECT_TRUE(header.groups.empty());
}

TEST(TraceHeader, rank_world_size_and_groups_come_from_distributed_info) {
  const TraceHeader header = Read({{"distributedInfo", R"({"backend":"nccl","rank":3,"world_size":8,
      "pg_config":[{"pg_name":"0","pg_desc":"default_pg","pg_size":2,"ranks":[1, 0]},
                   {"pg_name":7,"ranks":"[5, 4]"},
                   "odd", {}]})"}});
  EXPECT_EQ(header.rank, 3);
  EXPECT_EQ(header.world_size, 8);
  ASSERT_EQ(header.groups.size(), 2u);  // one without ranks says nothing that is stored
  EXPECT_EQ(header.groups[0].name, "0");
  EXPECT_EQ(header.groups[0].description, "default_pg");
  EXPECT_EQ(header.groups[0].size, 2);
  EXPECT_EQ(header.groups[0].ranks, "[0,1]");
}

TEST(TraceHeader, numbers_written_as_text_count) {
  const TraceHeader header = Read({{"distributedInfo", R"({"rank":"3","world_size":"8"})"},
                                   {"baseTimeNanoseconds", "\"1722000000000000000\""}});
  EXPECT_EQ(header.rank, 3);
  EXPECT_EQ(header.world_size, 8);
  EXPECT_EQ(header.base_time_ns, 1722000000000000000);
}

TEST(TraceHeader, values_of_the_wrong_type_are_as_if_absent) {
  const TraceHeader header =
      Read({{"distributedInfo", R"({"rank":"three","world_size":1.5,"x":0})"},
            {"host_name", "5"},
            {"deviceProperties", "{}"}});
  EXPECT_EQ(header.rank, std::nullopt);
  EXPECT_EQ(header.world_size, std::nullopt);
  EXPECT_EQ(header.host, std::nullopt);
  EXPECT_EQ(header.gpu_name, std::nullopt);
  EXPECT_EQ(Read({{"distributedInfo", "null"}}).rank, std::nullopt);
}

TEST(TraceHeader, a_base_time_that_is_no_64_bit_number_is_counted) {
  for (const char* value : {"18446744073709551615", "\"soon\"", "1.5", "null"}) {
    EventIssues issues;
    const TraceHeader header = ReadTraceHeader({{"baseTimeNanoseconds", value}}, issues);
    EXPECT_EQ(header.base_time_ns, std::nullopt) << value;
    EXPECT_EQ(issues.entry(IssueKind::kHeaderMalformed).count, 1u) << value;
  }
}

TEST(TraceHeader, host_and_gpu_are_read) {
  const TraceHeader header = Read({{"host_name", "\"node \\u00e9\""},
                                   {"deviceProperties", R"([{"id":0,"name":"NVIDIA H200"}])"}});
  EXPECT_EQ(header.host, "node \xc3\xa9");
  EXPECT_EQ(header.gpu_name, "NVIDIA H200");
}

TEST(TraceHeader, every_key_is_kept_in_one_valid_object) {
  const TraceHeader header =
      Read({{"a", "1.50"}, {"b \\\"", "{ \"x\" : [ 1, 2 ] }"}, {"c", "\"two words\""}});
  EXPECT_EQ(header.json, R"({"a":1.50,"b \"":{"x":[1,2]},"c":"two words"})");
}

TEST(TraceHeader, of_a_key_written_twice_the_last_value_counts) {
  const TraceHeader header = Read({{"baseTimeNanoseconds", "1"}, {"baseTimeNanoseconds", "2"}});
  EXPECT_EQ(header.base_time_ns, 2);
  EXPECT_EQ(header.json, R"({"baseTimeNanoseconds":2})");
}

TEST(TraceHeader, a_key_written_with_escapes_is_the_same_key) {
  const TraceHeader escaped =
      Read({{"baseTimeNanoseconds", "1"}, {"b\\u0061seTimeNanoseconds", "2"}});
  EXPECT_EQ(escaped.base_time_ns, 2);
  EXPECT_EQ(escaped.json, R"({"baseTimeNanoseconds":2})");
}

TEST(TraceHeader, broken_values_are_mended_or_kept_as_text_and_counted) {
  EventIssues issues;
  const TraceHeader header =
      ReadTraceHeader({{"a", "NaN"}, {"b", "[1,}"}, {"c", "\"x\ty\""}, {"d", "1"}}, issues);
  EXPECT_EQ(header.json, R"({"a":null,"b":"[1,}","c":"x\u0009y","d":1})");
  EXPECT_EQ(issues.entry(IssueKind::kHeaderMalformed).count, 3u);
  simdjson::dom::parser parser;
  simdjson::dom::element element;
  EXPECT_EQ(parser.parse(*header.json).get(element), simdjson::SUCCESS);
}

TEST(TraceHeader, numbers_of_any_size_are_valid_json) {
  EXPECT_EQ(Read({{"a", "18446744073709551616"}, {"b", "[1e999]"}}).json,
            R"({"a":18446744073709551616,"b":[1e999]})");
}

TEST(RankInName, every_usual_form_is_understood) {
  for (const char* name :
       {"rank7.json", "rank-7.json.gz", "rank_7.pt.trace.json", "rank[7].json", "Rank 7.json",
        "trace.rank=7.json", "RANK07.json", "host_rank7_step5.json", "rank.7.json",
        "ranks_rank7.json", "x.rank_[7].json"}) {
    EXPECT_EQ(RankInName(name), 7) << name;
  }
  EXPECT_EQ(RankInName("rank0.json"), 0);
  EXPECT_EQ(RankInName("rank1023.json"), 1023);
}

TEST(RankInName, a_name_without_a_rank_tells_none) {
  for (const char* name :
       {"trace7.json", "rank.json", "", "rank", "rankx7.json", "rank99999999999999999999.json"}) {
    EXPECT_EQ(RankInName(name), std::nullopt) << name;
  }
}

TEST(ChooseRank, header_then_name_then_option_then_nobody_tells) {
  TraceHeader header;
  header.rank = 4;
  const auto choose = [&](const char* path, std::optional<int64_t> option) {
    const RankChoice choice = ChooseRank(header, path, option);
    return std::to_string(choice.rank) + " " + std::string(choice.source);
  };
  EXPECT_EQ(choose("/rank9/rank5.json", 6), "4 header");
  header.rank = std::nullopt;
  EXPECT_EQ(choose("/rank9/rank5.json", 6), "5 file name");
  EXPECT_EQ(choose("/rank9/trace.json", 6), "6 option");
  EXPECT_EQ(choose("/rank9/trace.json", std::nullopt), "0 chosen");
}

}  // namespace
}  // namespace tracedb
