// RequoteJson: which quote ends a string when a writer forgot to escape those inside.

#include "tracedb/json/json_requote.h"

#include <gtest/gtest.h>

#include <string>

#include "random_json.h"
#include "tracedb/json/json_text.h"

namespace tracedb {
namespace {

std::string Requoted(const std::string& event) {
  std::string out;
  return RequoteJson(event, out) ? out : "(no)" + out;
}

TEST(JsonRequote, valid_json_stays_as_it_is) {
  for (const std::string text :
       {R"({"a": "x", "b": [1, "y", {"c": "z"}], "d": null})", R"({"a":"C:\\","b":"q\"q"})",
        R"({})", R"({"a":[]})", R"({"a": "}, {", "b": "],"})"}) {
    EXPECT_EQ(Requoted(text), text);
  }
}

TEST(JsonRequote, a_quote_inside_a_value_is_escaped) {
  EXPECT_EQ(Requoted(R"({"name": "f("a", "b"): <module>", "pid": 1})"),
            R"({"name": "f(\"a\", \"b\"): <module>", "pid": 1})");
  EXPECT_EQ(Requoted(R"({"name": "5" disk", "pid": 1})"), R"({"name": "5\" disk", "pid": 1})");
  EXPECT_EQ(Requoted(R"({"pid": 1, "name": "say "hi""})"), R"({"pid": 1, "name": "say \"hi\""})");
}

TEST(JsonRequote, in_an_array_a_string_ends_where_another_value_begins) {
  EXPECT_EQ(Requoted(R"({"a": ["the "x" of it", "", [1]]})"),
            R"({"a": ["the \"x\" of it", "", [1]]})");
}

TEST(JsonRequote, keys_get_the_quotes_they_lack) {
  EXPECT_EQ(Requoted(R"({"a": 1, tid": 0, "b": 2})"), R"({"a": 1, "tid": 0, "b": 2})");
  EXPECT_EQ(Requoted(R"({a: 1})"), R"({"a": 1})");
}

TEST(JsonRequote, a_backslash_at_the_end_is_text_where_nothing_else_makes_sense) {
  EXPECT_EQ(Requoted(R"({"a": "C:\", "b": 1})"), R"({"a": "C:\\", "b": 1})");
  EXPECT_EQ(Requoted(R"({"a": "x\", "b": 1", "c": 2})"), R"({"a": "x\", \"b\": 1", "c": 2})");
}

TEST(JsonRequote, what_is_no_single_object_is_refused) {
  for (const std::string text : {R"({"a": 1}, {"b": 2})", R"({"a": 1)", R"({"a": "x)", R"("a")", "",
                                 R"({"a": [1})", R"({"a" 1})", R"({"a": 1}})", R"({1: 2})"}) {
    EXPECT_EQ(Requoted(text), "(no)") << text;
  }
}

TEST(JsonRequote, removing_the_escapes_of_quotes_can_be_undone) {
  test::Random random(5);
  for (int round = 0; round < 2000; ++round) {
    std::string name;
    for (int i = 0; i < 8; ++i) name += "ab (\"'x.<>"[random.Below(10)];
    std::string escaped;
    AppendJsonString(escaped, name);
    const std::string wanted = "{\"ph\": \"X\", \"name\": " + escaped + ", \"pid\": 1}";
    const std::string broken = "{\"ph\": \"X\", \"name\": \"" + name + "\", \"pid\": 1}";
    EXPECT_EQ(Requoted(broken), wanted);
  }
}

}  // namespace
}  // namespace tracedb
