// What an operator computes and moves at least, from the sizes that the profiler recorded
// (record_shapes=True). Knows operators by name and their args; knows no database.
//
// FLOPs are multiplications and additions of matrix products (a product of m x k and k x n has
// 2 m n k); of other operators none are counted. Bytes are those of each input once and each output
// once: what has to pass the GPU's memory when no cache holds any of it. Figures that the args do
// not decide (sequence lengths within a batch, experts that tokens chose) are absent.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace tracedb {

struct OpCost {
  std::optional<int64_t> flops;
  std::optional<int64_t> bytes;
  // What the products are of: fp64, fp32, tf32, bf16, fp16, fp8, fp4 or int8; empty without
  // products, and where the args do not tell.
  std::string_view dtype;
  // The smaller of the result's two sizes, of products of matrices: 1 where a vector takes part.
  std::optional<int64_t> narrow;
  std::string shapes;  // those that count, for people
};

// What else is known of a call.
struct OpSurroundings {
  std::string_view kernel;      // the longest that it launched; empty: not known
  std::string_view annotation;  // around it, where engines write a batch's lengths; empty: none
};

// `args` is the JSON object of the event. nullopt: no model for this operator, or sizes that
// cannot be. Never throws but for want of memory; bounded by kOpArgsBytesMax.
std::optional<OpCost> CostOf(std::string_view op, std::string_view args,
                             const OpSurroundings& around = {});

// GEMM, convolution, attention, norm, elementwise, reduction, embedding, optimizer, communication
// or copy; empty: not known by its name.
std::string_view OpCategory(std::string_view op);
// The same by a kernel's name.
std::string_view KernelCategory(std::string_view kernel);

inline constexpr size_t kOpArgsBytesMax = 4 << 20;

}  // namespace tracedb
