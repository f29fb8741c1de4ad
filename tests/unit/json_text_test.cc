// JSON text: escapes, mending what is nearly JSON, and leaving alone what is.

#include "tracedb/json/json_text.h"

#include <gtest/gtest.h>

#include "tracedb/json/json_check.h"

#define SIMDJSON_EXCEPTIONS 0
#include <simdjson.h>

#include <optional>
#include <string>

#include "random_json.h"
#include "tracedb/schema/args_columns.h"

namespace tracedb {
namespace {

const std::string kReplacement = "\xef\xbf\xbd";

bool IsValid(const std::string& text) {
  simdjson::dom::parser parser;
  simdjson::dom::element element;
  return parser.parse(text).get(element) == simdjson::SUCCESS;
}

std::string Repaired(const std::string& text) {
  std::string repaired;
  RepairJson(text, repaired);
  return repaired;
}

TEST(UnescapedJson, escapes_become_what_they_stand_for) {
  EXPECT_EQ(UnescapedJson(R"(a\"b\\c\/d)"), "a\"b\\c/d");
  EXPECT_EQ(UnescapedJson(R"(\b\f\n\r\t)"), "\b\f\n\r\t");
  EXPECT_EQ(UnescapedJson(R"(\u0041\u00e9\u4e2d\uFFFd)"), "A\xc3\xa9\xe4\xb8\xad\xef\xbf\xbd");
  EXPECT_EQ(UnescapedJson(R"(\u0000)"), std::string(1, '\0'));
  EXPECT_EQ(UnescapedJson(""), "");
}

TEST(UnescapedJson, a_surrogate_pair_is_one_character_and_a_lone_one_is_replaced) {
  EXPECT_EQ(UnescapedJson(R"(\ud83d\ude00)"), "\xf0\x9f\x98\x80");
  EXPECT_EQ(UnescapedJson(R"(\uDBFF\uDFFF)"), "\xf4\x8f\xbf\xbf");
  EXPECT_EQ(UnescapedJson(R"(\ud83d)"), kReplacement);
  EXPECT_EQ(UnescapedJson(R"(\ud83dx)"), kReplacement + "x");
  EXPECT_EQ(UnescapedJson(R"(\ude00\ud83d)"), kReplacement + kReplacement);
  EXPECT_EQ(UnescapedJson(R"(\ud83d\u0041)"), kReplacement + "A");
  EXPECT_EQ(UnescapedJson(R"(\ud83d\ude)"), kReplacement + "\\ude");
}

TEST(UnescapedJson, an_unknown_or_cut_escape_keeps_its_backslash) {
  EXPECT_EQ(UnescapedJson(R"(C:\x\q)"), R"(C:\x\q)");
  EXPECT_EQ(UnescapedJson(R"(\u12g4)"), R"(\u12g4)");
  EXPECT_EQ(UnescapedJson(R"(\u12)"), R"(\u12)");
  EXPECT_EQ(UnescapedJson("\\"), "\\");
}

TEST(UnescapedJson, bytes_that_are_no_utf8_are_replaced_and_all_that_is_stays) {
  const std::string good =
      "\x7f\xc2\x80\xdf\xbf\xe0\xa0\x80\xed\x9f\xbf\xee\x80\x80\xf0\x90\x80\x80"
      "\xf4\x8f\xbf\xbf";
  EXPECT_EQ(UnescapedJson(good), good);
  for (const char* bad :
       {"\x80", "\xbf", "\xc0\x80", "\xc1\xbf", "\xe0\x9f\xbf", "\xed\xa0\x80", "\xf0\x8f\xbf\xbf",
        "\xf4\x90\x80\x80", "\xf5\x80\x80\x80", "\xff", "\xc3", "\xe4\xb8", "\xf0\x9f\x98"}) {
    const std::string text = UnescapedJson(std::string("a") + bad + "b");
    EXPECT_NE(text.find(kReplacement), std::string::npos);
    EXPECT_TRUE(simdjson::validate_utf8(text));
    EXPECT_EQ(text.front(), 'a');
    EXPECT_EQ(text.back(), 'b');
  }
}

TEST(UnescapedJson, random_strings_agree_with_the_parsing_library) {
  test::Random random(9);
  simdjson::dom::parser parser;
  for (int round = 0; round < 20000; ++round) {
    std::string inside = test::RandomStringInside(random);
    if (random.OneIn(2)) inside += random.Pick({"\\ud83d\\ude00", "\\u0000", "\\b\\f\\r\\t"});
    simdjson::dom::element element;
    std::string_view wanted;
    ASSERT_EQ(parser.parse('"' + inside + '"').get(element), simdjson::SUCCESS) << inside;
    ASSERT_EQ(element.get_string().get(wanted), simdjson::SUCCESS);
    ASSERT_EQ(UnescapedJson(inside), wanted) << inside;
  }
}

TEST(AppendJsonString, any_bytes_become_a_valid_string_that_reads_back) {
  test::Random random(10);
  simdjson::dom::parser parser;
  for (int round = 0; round < 20000; ++round) {
    std::string text;
    for (size_t left = random.Below(12); left > 0; --left) {
      text += random.OneIn(2) ? random.Pick({"\"", "\\", "\n", "\x01", "\xc3\xa9", "x"})
                              : std::string(1, static_cast<char>(random.Below(256)));
    }
    std::string json;
    AppendJsonString(json, text);
    simdjson::dom::element element;
    std::string_view read;
    ASSERT_EQ(parser.parse(json).get(element), simdjson::SUCCESS) << json;
    ASSERT_EQ(element.get_string().get(read), simdjson::SUCCESS);
    if (simdjson::validate_utf8(text)) {
      ASSERT_EQ(read, text);
    } else {
      ASSERT_NE(read.find(kReplacement), std::string_view::npos);
    }
  }
}

TEST(IsJsonNumber, the_grammar_is_jsons) {
  for (const char* good : {"0", "-0", "1", "-12", "0.5", "1.0", "1e5", "1E+5", "-1.5e-10", "10"}) {
    EXPECT_TRUE(IsJsonNumber(good)) << good;
  }
  for (const char* bad : {"", "-", "01", "-01", ".5", "5.", "1.e5", "1e", "1e+", "+1", "0x1", "1 ",
                          "--1", "1.2.3", "-5.-123", "nan", "1e5.5"}) {
    EXPECT_FALSE(IsJsonNumber(bad)) << bad;
  }
}

TEST(MinifiedJson, random_values_agree_with_the_parsing_library) {
  test::Random random(11);
  for (int round = 0; round < 10000; ++round) {
    const std::string text = " " + test::RandomJson(random, 4) + "\r\n";
    std::string wanted(text.size() + 64, '\0');
    size_t size = 0;
    ASSERT_EQ(simdjson::minify(text.data(), text.size(), wanted.data(), size), simdjson::SUCCESS);
    wanted.resize(size);
    ASSERT_EQ(MinifiedJson(text), wanted) << text;
    ASSERT_EQ(MinifiedJson(wanted), wanted);
  }
}

TEST(RepairJson, what_is_valid_stays_to_the_letter) {
  test::Random random(12);
  for (int round = 0; round < 10000; ++round) {
    const std::string text = test::RandomJson(random, 4);
    std::string repaired;
    const JsonRepair repair = RepairJson(text, repaired);
    ASSERT_EQ(repaired, text);
    ASSERT_FALSE(repair.text) << text;
    ASSERT_FALSE(repair.non_finite) << text;
  }
}

TEST(RepairJson, what_can_be_mended_is) {
  const struct {
    std::string broken;
    std::string wanted;
  } kCases[] = {
      {R"({"a":"C:\dir"})", R"({"a":"C:\\dir"})"},
      {R"({"a":"\u12"})", R"({"a":"\\u12"})"},
      {R"({"a":"x\\"})", R"({"a":"x\\"})"},
      {"{\"a\":\"x\ny\"}", R"({"a":"x\u000ay"})"},
      {std::string("{\"a\":\"x\0y\"}", 11), R"({"a":"x\u0000y"})"},
      {"{\"a\":\"\x80\"}", "{\"a\":\"" + kReplacement + "\"}"},
      {R"({"a":NaN,"b":-Infinity,"c":inf,"d":-nan})", R"({"a":null,"b":null,"c":null,"d":null})"},
      {R"({"a":1,})", R"({"a":1})"},
      {"[1 ,\n]", "[1 ]"},
      {R"({"a":-5.-123})", R"({"a":"-5.-123"})"},
      {R"({"a":007})", R"({"a":"007"})"},
      {R"({"a":"NaN, 1,}"})", R"({"a":"NaN, 1,}"})"},
  };
  for (const auto& [broken, wanted] : kCases) {
    EXPECT_EQ(Repaired(broken), wanted);
    EXPECT_TRUE(IsValid(wanted)) << wanted;
  }
}

TEST(RepairJson, it_tells_what_it_did) {
  std::string repaired;
  EXPECT_TRUE(RepairJson(R"({"a":"\x"})", repaired).text);
  EXPECT_FALSE(RepairJson(R"({"a":"\x"})", repaired).non_finite);
  EXPECT_TRUE(RepairJson(R"({"a":NaN})", repaired).non_finite);
  EXPECT_FALSE(RepairJson(R"({"a":NaN})", repaired).text);
}

TEST(IsJson, the_grammar_is_jsons) {
  for (const char* good :
       {"{}", "[]", " [1, 2] ", "\"\\ud83d\"", "1e999", "-0", "null", "[[[]]]", "{\"a\":{\"a\":1}}",
        "123456789012345678901234567890", "\"\\u0000\"", "{\"\":\"\"}"}) {
    EXPECT_TRUE(IsJson(good)) << good;
  }
  for (const char* bad : {"",           " ",          "{",         "}",        "[1,]",
                          "[,1]",       "{\"a\":1,}", "{\"a\"}",   "{a:1}",    "[1 2]",
                          "01",         "nul",        "nulll",     "[1}",      "{\"a\":1]",
                          "\"a",        "\"\\x\"",    "\"\\u12\"", "\"\n\"",   "1 1",
                          "{}{}",       "{\"a\" 1}",  "{1:2}",     "\"\xff\"", "\"\xed\xa0\x80\"",
                          "[",          "[1",         "[1,",       ",",        ":",
                          "{\"a\"::1}", "NaN",        "+1",        "\"\\\""}) {
    EXPECT_FALSE(IsJson(bad)) << bad;
  }
}

// Breaks valid JSON in one to three places.
std::string Damaged(test::Random& random, std::string text) {
  for (size_t left = 1 + random.Below(3); left > 0; --left) {
    const size_t at = random.Below(text.size() + 1);
    if (random.OneIn(3) && at < text.size()) {
      text.erase(at, 1 + random.Below(3));
      if (text.empty()) return text;
    } else {
      text.insert(at, random.Pick({"\\", "\"", ",", "\x02", "\xff", "NaN", "-", "\n", "\\u1", "}",
                                   "-Infinity", "\xc3", "0"}));
    }
  }
  return text;
}

TEST(IsJson, random_texts_agree_with_the_parsing_library) {
  test::Random random(31);
  simdjson::dom::parser parser;
  simdjson::dom::element element;
  for (int round = 0; round < 30000; ++round) {
    std::string text = test::RandomJson(random, 3);
    ASSERT_TRUE(IsJson(text)) << text;
    text = Damaged(random, std::move(text));
    const auto error = parser.parse(text).get(element);
    // The library refuses numbers that do not fit its types, too.
    if (error != simdjson::NUMBER_ERROR) {
      ASSERT_EQ(IsJson(text), error == simdjson::SUCCESS) << text << " " << error;
    }
  }
}

TEST(RepairJson, mending_again_changes_nothing_once_the_text_is_valid) {
  test::Random random(13);
  int mended = 0;
  for (int round = 0; round < 30000; ++round) {
    const std::string broken = Damaged(random, "{\"k\":" + test::RandomJson(random, 3) + "}");
    const std::string once = Repaired(broken);
    if (!IsValid(once)) continue;
    mended += IsValid(broken) ? 0 : 1;
    std::string twice;
    const JsonRepair repair = RepairJson(once, twice);
    ASSERT_EQ(twice, once) << broken;
    ASSERT_FALSE(repair.text || repair.non_finite) << broken;
  }
  EXPECT_GT(mended, 3000);  // else the test tries nothing
}

TEST(RepairArgs, args_marks_stay_and_other_control_characters_go) {
  const std::string mark(1, ArgsMark(3));
  std::string repaired;
  const std::string text = "{\"a\":" + mark + ",\"b\":\"" + mark + "\",\"c\":1,}";
  RepairArgs(text, repaired);
  EXPECT_EQ(repaired, "{\"a\":" + mark + ",\"b\":\"" + mark + "\",\"c\":1}");
  RepairArgs(std::string("\"") + kPartMark + "\"", repaired);
  EXPECT_EQ(repaired, "\"\\u001f\"");
}

}  // namespace
}  // namespace tracedb
