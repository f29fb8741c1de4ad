// Args of operators' events: what is read of them, and that nothing breaks the reader.
#include "cost/op_args.h"

#include <gtest/gtest.h>

#include <random>
#include <string>

#include "tracedb/cost/op_cost.h"

namespace tracedb {
namespace {

constexpr char kArgs[] =
    R"({"External id":null,"Concrete Inputs":["","[1, 2]","True",""],"Input type":["float",)"
    R"("ScalarList","Scalar","TensorList"],"Input Strides":[[200,1],[],[],[[1],[4,1]]],)"
    R"("x":{"a":[1,"]}"]},)"
    R"("Input Dims":[[100,200],[],[],[[3],[2,4]]],"Ev Idx":7})";

TEST(OpArgs, tensors_lists_and_given_texts_are_told_apart) {
  const auto args = ReadOpArgs(kArgs);
  ASSERT_TRUE(args.has_value());
  ASSERT_EQ(args->args.size(), 4u);
  ASSERT_NE(args->TensorAt(0), nullptr);
  EXPECT_EQ(args->TensorAt(0)->dims, (std::vector<int64_t>{100, 200}));
  EXPECT_EQ(args->TensorAt(0)->strides, (std::vector<int64_t>{200, 1}));
  EXPECT_EQ(args->TensorAt(0)->type, DType::kFloat32);
  EXPECT_EQ(args->TensorAt(1), nullptr);
  EXPECT_EQ(args->GivenAt(1), "[1, 2]");
  EXPECT_EQ(FlagFromText(args->GivenAt(2)), true);
  ASSERT_NE(args->ListAt(3), nullptr);
  ASSERT_EQ(args->ListAt(3)->size(), 2u);
  EXPECT_EQ((*args->ListAt(3))[1].dims, (std::vector<int64_t>{2, 4}));
  EXPECT_EQ(args->TensorAt(4), nullptr);
}

TEST(OpArgs, what_cannot_be_is_none) {
  for (const char* text :
       {"", "null", "[]", "{}", R"({"Input Dims":[[-1]]})", R"({"Input Dims":[[1.5]]})",
        R"({"Input Dims":[[1e3]]})", R"({"Input Dims":[[281474976710657]]})",
        R"({"Input Dims":[[99999999999999999999]]})", R"({"Input Dims":[[1],[[[2]]]]})",
        R"({"Input Dims":[[1]],"Input Dims":[[2]]})", R"({"Input Dims":[[1])",
        R"({"Input Dims":[[1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1]]})"}) {
    EXPECT_FALSE(ReadOpArgs(text).has_value()) << text;
  }
  EXPECT_FALSE(ReadOpArgs(std::string(kOpArgsBytesMax + 1, ' ')).has_value());
  std::string deep = R"({"a":)" + std::string(100000, '[') + std::string(100000, ']');
  EXPECT_TRUE(ReadOpArgs(deep + R"(,"Input Dims":[[1]]})").has_value());
}

TEST(OpArgs, cut_and_changed_texts_break_nothing) {
  const std::string text = kArgs;
  for (size_t size = 0; size < text.size(); ++size) {
    EXPECT_FALSE(ReadOpArgs(text.substr(0, size)).has_value()) << size;
  }
  std::mt19937 random(1);
  for (int i = 0; i < 20000; ++i) {
    std::string changed = text;
    for (int j = 0; j < 3; ++j) {
      changed[random() % changed.size()] = "[]{},:\"\\0159-e. x"[random() % 16];
    }
    for (const char* op : {"aten::add", "aten::_foreach_add_", "aten::mm", "aten::sum"}) {
      CostOf(op, changed, {"Functor<float, 1>", ""});
    }
  }
}

TEST(OpArgs, given_lists_are_whole_or_none) {
  EXPECT_EQ(IntsFromText("[2, 3]"), (std::vector<int64_t>{2, 3}));
  EXPECT_EQ(IntsFromText("4"), (std::vector<int64_t>{4}));
  EXPECT_EQ(IntsFromText("[]"), std::vector<int64_t>());
  EXPECT_FALSE(IntsFromText("").has_value());
  EXPECT_FALSE(IntsFromText("[1,]").has_value());
  EXPECT_FALSE(IntsFromText("[1").has_value());
  EXPECT_FALSE(IntsFromText("[1.5]").has_value());
  EXPECT_EQ(FlagsFromText("[True, false]"), (std::vector<bool>{true, false}));
  EXPECT_FALSE(FlagsFromText("[1]").has_value());
}

}  // namespace
}  // namespace tracedb
