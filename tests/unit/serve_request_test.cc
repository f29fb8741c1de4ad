#include <gtest/gtest.h>

#include "serve/http/request_guard.h"
#include "serve/http/web_message.h"
#include "serve/result_request.h"

namespace tracedb {
namespace {

WebRequest Get(std::string host, std::string token = "", std::string authorization = "") {
  WebRequest request;
  request.method = "GET";
  request.path = "/";
  request.hosts = {std::move(host)};
  request.authorization = std::move(authorization);
  if (!token.empty()) request.params = {{"token", std::move(token)}};
  return request;
}

int Status(RequestGuard& guard, const WebRequest& request) {
  const auto refused = guard.Refuse(request, [] { return false; });
  return refused.has_value() ? refused->status : 200;
}

TEST(RequestGuard, loopback_answers_to_its_own_names_only) {
  RequestGuard guard("127.0.0.1", {"Box.lan"}, "", 1);
  for (const char* host : {"localhost", "LocalHost:1", "127.0.0.1:8642", "[::1]:9", "box.lan"}) {
    EXPECT_EQ(Status(guard, Get(host)), 200) << host;
  }
  for (const char* host : {"", "evil.example", "8.8.8.8", "[::1", "localhost.evil.example"}) {
    EXPECT_EQ(Status(guard, Get(host)), 400) << host;
  }
  WebRequest two = Get("localhost");
  two.hosts.push_back("localhost");
  EXPECT_EQ(Status(guard, two), 400);
}

TEST(RequestGuard, other_addresses_answer_to_any_address) {
  RequestGuard guard("0.0.0.0", {}, "t", 1);
  EXPECT_EQ(Status(guard, Get("10.1.2.3:80", "t")), 200);
  EXPECT_EQ(Status(guard, Get("[fe80::1]", "t")), 200);
  EXPECT_EQ(Status(guard, Get("evil.example", "t")), 400);
}

TEST(RequestGuard, the_token_is_a_parameter_or_a_password) {
  RequestGuard guard("127.0.0.1", {}, "secret", 1);
  EXPECT_EQ(Status(guard, Get("localhost")), 401);
  EXPECT_EQ(Status(guard, Get("localhost", "secre")), 401);
  EXPECT_EQ(Status(guard, Get("localhost", "secret")), 200);
  EXPECT_EQ(Status(guard, Get("localhost", "", "Basic bWU6c2VjcmV0")), 200);   // me:secret
  EXPECT_EQ(Status(guard, Get("localhost", "", "basic  OnNlY3JldA==")), 200);  // :secret
  EXPECT_EQ(Status(guard, Get("localhost", "", "Basic c2VjcmV0")), 401);       // no colon
  EXPECT_EQ(Status(guard, Get("localhost", "", "Basic ***")), 401);
}

TEST(RequestGuard, only_reading_methods_are_allowed) {
  RequestGuard guard("127.0.0.1", {}, "", 1);
  WebRequest request = Get("localhost");
  request.method = "HEAD";
  EXPECT_EQ(Status(guard, request), 200);
  request.method = "POST";
  EXPECT_EQ(Status(guard, request), 405);
}

TEST(RequestGuard, comparison_sees_every_difference) {
  EXPECT_TRUE(EqualInConstantTime("abc", "abc"));
  EXPECT_FALSE(EqualInConstantTime("abcabc", "abc"));
  EXPECT_FALSE(EqualInConstantTime("", "abc"));
  EXPECT_FALSE(EqualInConstantTime("abd", "abc"));
  EXPECT_FALSE(EqualInConstantTime("xbc", "abc"));
}

TEST(RequestGuard, loopback_is_told_from_what_looks_like_it) {
  for (const char* host : {"localhost", "127.0.0.1", "127.8.9.1", "::1"}) {
    EXPECT_TRUE(IsLoopback(host)) << host;
  }
  for (const char* host : {"0.0.0.0", "::", "127.0.0.1.example", "128.0.0.1", ""}) {
    EXPECT_FALSE(IsLoopback(host)) << host;
  }
}

TEST(WebMessage, gzip_is_taken_by_name_and_weight) {
  EXPECT_TRUE(AcceptsGzip("gzip"));
  EXPECT_TRUE(AcceptsGzip("br;q=1, GZip ; q=0.5"));
  EXPECT_FALSE(AcceptsGzip("gzip;q=0"));
  EXPECT_FALSE(AcceptsGzip("gzip;q=0.000, br"));
  EXPECT_FALSE(AcceptsGzip("br, deflate"));
  EXPECT_FALSE(AcceptsGzip(""));
}

TEST(WebMessage, etags_are_found_in_lists) {
  EXPECT_TRUE(HasEtag("\"a\"", "\"a\""));
  EXPECT_TRUE(HasEtag("\"b\", W/\"a\"", "\"a\""));
  EXPECT_TRUE(HasEtag("*", "\"a\""));
  EXPECT_FALSE(HasEtag("\"ab\"", "\"a\""));
  EXPECT_FALSE(HasEtag("", "\"a\""));
}

TEST(WebMessage, urls_hold_nothing_but_plain_characters) {
  EXPECT_EQ(UrlEncoded("doctor/a_b-c.d~"), "doctor/a_b-c.d~");
  EXPECT_EQ(UrlEncoded("a b&c=\"<ä"), "a%20b%26c%3D%22%3C%C3%A4");
}

TEST(ResultRequest, form_is_told_from_parameters) {
  WebRequest request;
  request.params = {{"bom", "1"},  {"format", "csv"}, {"header", "0"},
                    {"limit", ""}, {"ns", "text"},    {"order", "x"},
                    {"rank", "3"}, {"show", "y"},     {"token", "t"}};
  const auto table = ReadResultRequest(request, true, false);
  ASSERT_TRUE(table.ok());
  EXPECT_TRUE(table.value().form.byte_order_mark);
  EXPECT_FALSE(table.value().form.header);
  EXPECT_TRUE(table.value().form.safe_text);
  EXPECT_TRUE(table.value().form.long_as_text);
  EXPECT_EQ(table.value().order, "x");
  EXPECT_EQ(table.value().params, std::vector<std::string>{"rank=3"});
  const auto query = ReadResultRequest(request, false, true);
  ASSERT_TRUE(query.ok());
  EXPECT_FALSE(query.value().form.safe_text);
  EXPECT_EQ(query.value().params, (std::vector<std::string>{"order=x", "rank=3"}));
}

TEST(ResultRequest, what_a_switch_does_not_know_is_wrong) {
  for (const char* name : {"bom", "header", "safe", "format", "ns"}) {
    WebRequest request;
    request.params = {{name, "maybe"}};
    EXPECT_FALSE(ReadResultRequest(request, false, false).ok()) << name;
  }
}

}  // namespace
}  // namespace tracedb
