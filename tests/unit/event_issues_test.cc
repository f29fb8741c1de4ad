// EventIssues: counts, first places, and names.

#include "tracedb/schema/event_issues.h"

#include <gtest/gtest.h>

#include <set>
#include <string>

namespace tracedb {
namespace {

TEST(EventIssues, the_earliest_place_of_a_kind_stays_whatever_the_order) {
  EventIssues issues;
  issues.Add(IssueKind::kBadTime, 50, "second");
  issues.Add(IssueKind::kBadTime, 20, "first");
  issues.Add(IssueKind::kBadTime, 90, "third");
  EXPECT_EQ(issues.entry(IssueKind::kBadTime).count, 3u);
  EXPECT_EQ(issues.entry(IssueKind::kBadTime).first_offset, 20u);
  EXPECT_EQ(issues.entry(IssueKind::kBadTime).first_excerpt, "first");
}

TEST(EventIssues, merging_adds_counts_and_keeps_the_earlier_place) {
  EventIssues a;
  EventIssues b;
  a.Add(IssueKind::kTruncated, 50, "a");
  b.Add(IssueKind::kTruncated, 20, "b");
  b.Add(IssueKind::kBadTime, 0, "c");
  a.Merge(b);
  EXPECT_EQ(a.entry(IssueKind::kTruncated).count, 2u);
  EXPECT_EQ(a.entry(IssueKind::kTruncated).first_excerpt, "b");
  EXPECT_EQ(a.entry(IssueKind::kBadTime).count, 1u);
  EXPECT_EQ(a.entry(IssueKind::kBadTime).first_excerpt, "c");
  b.Merge(a);
  EXPECT_EQ(b.entry(IssueKind::kTruncated).first_offset, 20u);
}

TEST(EventIssues, an_excerpt_is_short_and_printable) {
  EventIssues issues;
  issues.Add(IssueKind::kBadTime, 0, "a\nb\x1b[31m\xc3\xa9" + std::string(500, 'x'));
  const std::string& excerpt = issues.entry(IssueKind::kBadTime).first_excerpt;
  EXPECT_EQ(excerpt.size(), EventIssues::kExcerptBytes);
  EXPECT_EQ(excerpt.substr(0, 10), "a b?[31m??");
}

TEST(EventIssues, only_kinds_that_lose_events_count_as_lost) {
  EventIssues issues;
  EXPECT_FALSE(issues.Any());
  issues.Add(IssueKind::kMissingDuration, 0, "");
  EXPECT_TRUE(issues.Any());
  EXPECT_EQ(issues.Lost(), 0u);
  issues.Add(IssueKind::kMalformedEvent, 0, "");
  issues.Add(IssueKind::kEventTooLarge, 0, "");
  EXPECT_EQ(issues.Lost(), 2u);
  issues.Clear();
  EXPECT_FALSE(issues.Any());
}

TEST(EventIssues, every_kind_has_a_name_of_its_own) {
  std::set<std::string> names;
  for (size_t kind = 0; kind < kIssueKinds; ++kind) {
    names.insert(std::string(IssueName(static_cast<IssueKind>(kind))));
  }
  EXPECT_EQ(names.size(), kIssueKinds);
  EXPECT_EQ(names.count(""), 0u);
  EXPECT_EQ(IssueName(IssueKind::kMalformedEvent), "malformed_event");
  EXPECT_EQ(IssueName(IssueKind::kTrailingGarbage), "trailing_garbage");
}

}  // namespace
}  // namespace tracedb
