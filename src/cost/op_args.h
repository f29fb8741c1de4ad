// The args of an operator's event, read: tensors with type and sizes, and what was given as text.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace tracedb {

enum class DType : uint8_t {
  kUnknown,
  kFloat64,
  kFloat32,
  kBFloat16,
  kFloat16,
  kFloat8,
  kFloat4x2,  // two numbers in a byte, which is what sizes count
  kInt64,
  kInt32,
  kInt16,
  kInt8,
  kBool,
  kComplex64,
  kComplex128
};

// As the profiler writes types ("c10::BFloat16"), and as C++ and Triton do.
DType TypeFromText(std::string_view text);
// 0: not known.
int64_t BytesOf(DType type);

struct Tensor {
  DType type = DType::kUnknown;
  std::vector<int64_t> dims;
  std::vector<int64_t> strides;  // as many as dims, or none: not recorded
};

struct OpArg {
  std::string type;  // "", "Scalar", "ScalarList", "TensorList" or an element type
  bool is_list = false;
  std::vector<Tensor> tensors;  // one, or those of a list; none: no tensor
  std::string given;            // scalars and lists of them, as text; empty: not recorded
};

struct OpArgs {
  std::vector<OpArg> args;
  std::string kernel_kwargs;  // of Triton kernels: "XBLOCK=1024,..."

  // nullptr: no such arg, a list, or no tensor. Tensors without dimensions are tensors.
  const Tensor* TensorAt(size_t index) const;
  const std::vector<Tensor>* ListAt(size_t index) const;
  std::string_view GivenAt(size_t index) const;
};

// nullopt: no JSON object, no "Input Dims", or beyond a bound (bytes, args, tensors, dimensions).
std::optional<OpArgs> ReadOpArgs(std::string_view json);

// "True" and "False" in any case.
std::optional<bool> FlagFromText(std::string_view text);
std::optional<int64_t> IntFromText(std::string_view text);
// "[2, 2]" and "2"; nullopt where it is no list of whole numbers.
std::optional<std::vector<int64_t>> IntsFromText(std::string_view text);
std::optional<std::vector<bool>> FlagsFromText(std::string_view text);

}  // namespace tracedb
