#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <random>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "serve/http/request_head.h"
#include "serve/http/token_pace.h"
#include "serve/shared_answers.h"

namespace tracedb {
namespace {

RequestHead Read(std::string_view bytes) {
  RequestHead head;
  head.Take(bytes);
  return head;
}

TEST(RequestHead, what_follows_is_left_for_the_next_request) {
  std::string_view bytes =
      "GET /a?b=c HTTP/1.1\r\nHost: x\r\nHOST2: y\r\nauthorization:  z \t\r\n"
      "Accept-Encoding: br\r\naccept-encoding: gzip\r\n\r\nGET /next";
  RequestHead head;
  head.Take(bytes);
  EXPECT_TRUE(head.is_whole());
  EXPECT_EQ(bytes, "GET /next");
  EXPECT_EQ(head.hosts(), std::vector<std::string>{"x"});
  EXPECT_EQ(head.authorization(), "z");
  EXPECT_EQ(head.accept_encoding(), "br, gzip");
  EXPECT_FALSE(head.is_last());
  EXPECT_EQ(head.Plain(), "GET /a?b=c HTTP/1.1\r\n\r\n");
}

TEST(RequestHead, the_last_request_is_known) {
  const std::string start = "POST / HTTP/1.1\r\n";
  for (const char* last : {"Connection: x, Close", "Content-Length: 1", "Content-Length: 010",
                           "Transfer-Encoding: Chunked"}) {
    const RequestHead head = Read(start + last + "\r\n\r\n");
    EXPECT_TRUE(head.is_whole() && head.is_last()) << last;
    EXPECT_EQ(head.Plain(), "POST / HTTP/1.1\r\nConnection: close\r\n\r\n");
  }
  for (const char* other : {"Connection: closed", "Content-Length: 00", "X: close"}) {
    EXPECT_FALSE(Read(start + other + "\r\n\r\n").is_last()) << other;
  }
  EXPECT_TRUE(Read("GET / HTTP/1.0\r\n\r\n").is_last());
}

TEST(RequestHead, lengths_are_bounded) {
  const auto status = [](const std::string& bytes) {
    const RequestHead head = Read(bytes);
    return head.fault().has_value() ? head.fault()->status : 0;
  };
  const std::string start = "GET / HTTP/1.1\r\n";
  EXPECT_EQ(status("GET /" + std::string(8191, 'a') + " HTTP/1.1\r\n\r\n"), 0);
  EXPECT_EQ(status("GET /" + std::string(8192, 'a') + " HTTP/1.1\r\n\r\n"), 414);
  EXPECT_EQ(status(std::string(9000, 'a')), 414);
  EXPECT_EQ(status(start + "X: " + std::string(8189, 'a') + "\r\n\r\n"), 0);
  EXPECT_EQ(status(start + "X: " + std::string(8190, 'a')), 431);
  std::string many = start;
  for (int i = 0; i < 9; ++i) many += "X: " + std::string(8000, 'a') + "\r\n";
  EXPECT_EQ(status(many), 431);
}

// However it is cut into pieces, a head is the same; and what httplib gets to read is a clear head.
TEST(RequestHead, random_heads_are_read_the_same_in_pieces) {
  std::mt19937 random(5);
  const std::vector<std::string> parts = {"GET ",    "HEAD ",     "/a",
                                          "?x=%00",  " HTTP/1.1", " HTTP/1.0",
                                          "\r\n",    "\r\n",      "\r\n",
                                          "\n",      "\r",        "Host:",
                                          " ",       ":",         "Content-Length",
                                          "0",       "17",        "\t",
                                          "close",   "chunk",     "ed",
                                          "Connect", "ion:",      "Transfer-Encoding:"};
  int whole = 0;
  for (int i = 0; i < 100'000; ++i) {
    std::string text = random() % 2 == 0 ? "GET /b HTTP/1.1\r\n" : "";
    for (size_t left = random() % 12; left > 0; --left) text += parts[random() % parts.size()];
    text += random() % 2 == 0 ? "\r\n\r\n" : "";
    const RequestHead at_once = Read(text);
    RequestHead in_pieces;
    std::string_view rest;
    for (size_t at = 0; at < text.size() && rest.empty(); at += 1) {
      rest = std::string_view(text).substr(at, 1);
      in_pieces.Take(rest);
    }
    ASSERT_EQ(at_once.is_whole(), in_pieces.is_whole()) << text;
    ASSERT_EQ(at_once.fault().has_value(), in_pieces.fault().has_value()) << text;
    ASSERT_FALSE(at_once.is_whole() && at_once.fault().has_value()) << text;
    if (!at_once.is_whole()) continue;
    ++whole;
    const RequestHead again = Read(at_once.Plain());
    ASSERT_TRUE(again.is_whole()) << text;
    ASSERT_EQ(again.Plain(), at_once.Plain());
    ASSERT_EQ(again.is_last(), at_once.is_last());
  }
  EXPECT_GT(whole, 1000);
}

SharedAnswers::Made MadeFor(SharedAnswers::For whom, std::string body) {
  SharedAnswers::Made made;
  made.answer.body = std::move(body);
  made.whom = whom;
  return made;
}

// Eight threads ask for one key; whoever makes it does so when the others wait for it.
std::vector<std::string> Asked(const std::function<SharedAnswers::Made(int turn)>& make) {
  constexpr int kThreads = 8;
  SharedAnswers shared;
  std::atomic<int> waiting = 0;
  std::atomic<int> turns = 0;
  std::vector<std::string> bodies(kThreads);
  std::vector<std::thread> threads;
  for (std::string& body : bodies) {
    threads.emplace_back([&] {
      bool is_waiting = false;
      const auto give_up = [&] {
        if (!std::exchange(is_waiting, true)) ++waiting;
        return false;
      };
      const auto make_late = [&] {
        const int turn = turns++;
        while (waiting < kThreads - 1) std::this_thread::yield();
        return make(turn);
      };
      try {
        body = shared.Get("key", give_up, make_late)->body;
      } catch (const std::runtime_error&) {
        body = "thrown";
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  return bodies;
}

TEST(SharedAnswers, one_makes_it_for_all) {
  std::atomic<int> made = 0;
  const auto bodies = Asked([&](int) {
    ++made;
    return MadeFor(SharedAnswers::For::kAll, "x");
  });
  EXPECT_EQ(bodies, std::vector<std::string>(8, "x"));
  EXPECT_EQ(made, 1);
}

TEST(SharedAnswers, the_next_one_makes_it_when_the_first_goes) {
  std::atomic<int> made = 0;
  const auto bodies = Asked([&](int turn) {
    ++made;
    return turn < 2 ? MadeFor(SharedAnswers::For::kNobody, "gone")
                    : MadeFor(SharedAnswers::For::kAll, "x");
  });
  EXPECT_EQ(std::ranges::count(bodies, "x"), 6);
  EXPECT_EQ(std::ranges::count(bodies, "gone"), 2);
  EXPECT_EQ(made, 3);
}

TEST(SharedAnswers, a_failure_and_an_exception_are_one_thread_s_alone) {
  const auto fails =
      Asked([](int turn) { return MadeFor(SharedAnswers::For::kOne, turn == 0 ? "failed" : "x"); });
  EXPECT_EQ(std::ranges::count(fails, "x"), 7);
  const auto throws = Asked([](int turn) -> SharedAnswers::Made {
    if (turn == 0) throw std::runtime_error("no memory");
    return MadeFor(SharedAnswers::For::kAll, "x");
  });
  EXPECT_EQ(std::ranges::count(throws, "x"), 7);
  EXPECT_EQ(std::ranges::count(throws, "thrown"), 1);
}

TEST(SharedAnswers, who_waits_may_give_up) {
  SharedAnswers shared;
  std::atomic<bool> begun = false;
  std::atomic<bool> may_end = false;
  std::thread maker([&] {
    const auto made = shared.Get(
        "key", [] { return false; },
        [&] {
          begun = true;
          while (!may_end) std::this_thread::yield();
          return MadeFor(SharedAnswers::For::kAll, "x");
        });
    EXPECT_EQ(made->body, "x");
  });
  while (!begun) std::this_thread::yield();
  const auto nothing = [] { return MadeFor(SharedAnswers::For::kOne, "made again"); };
  EXPECT_FALSE(shared
                   .Get(
                       "key", [] { return true; }, nothing)
                   .has_value());
  EXPECT_EQ(shared
                .Get(
                    "other", [] { return true; }, nothing)
                ->body,
            "made again");
  may_end = true;
  maker.join();
  EXPECT_EQ(shared
                .Get(
                    "key", [] { return true; }, nothing)
                ->body,
            "made again");
}

TEST(TokenPace, only_after_a_wrong_one_and_only_there) {
  TokenPace pace(1);
  const auto no = [] { return false; };
  const auto seconds = [&](const std::string& address) {
    const auto begin = std::chrono::steady_clock::now();
    EXPECT_TRUE(pace.Await(address, no));
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  };
  EXPECT_TRUE(pace.Await("10.0.0.1", no));
  pace.NoteWrong("10.0.0.1");
  EXPECT_GE(seconds("10.0.0.1"), 0.4);
  EXPECT_FALSE(pace.Await("10.0.0.1", [] { return true; })) << "the server ends";
  pace.NoteRight("10.0.0.1");
  EXPECT_TRUE(pace.Await("10.0.0.1", [] { return true; })) << "it did not wait";
  pace.NoteWrong("2001:db8:1:2:3::4");
  EXPECT_GE(seconds("2001:db8:1:2::9"), 0.4) << "the same network";
  EXPECT_TRUE(pace.Await("2001:db8:1:3::9", [] { return true; }));
}

TEST(TokenPace, few_wait_at_a_time) {
  TokenPace pace(2);
  pace.NoteWrong("a");
  std::atomic<int> waiting = 0;
  std::atomic<bool> go_on = false;
  std::vector<std::thread> threads;
  for (int i = 0; i < 2; ++i) {
    threads.emplace_back([&] {
      bool is_seen = false;
      EXPECT_TRUE(pace.Await("a", [&] {
        if (!std::exchange(is_seen, true)) ++waiting;
        while (!go_on) std::this_thread::yield();
        return false;
      }));
    });
  }
  while (waiting < 2) std::this_thread::yield();
  EXPECT_FALSE(pace.Await("a", [] { return false; }));
  EXPECT_TRUE(pace.Await("b", [] { return true; })) << "nobody guessed from there";
  go_on = true;
  for (std::thread& thread : threads) thread.join();
  EXPECT_TRUE(pace.Await("a", [] { return false; }));
}

}  // namespace
}  // namespace tracedb
