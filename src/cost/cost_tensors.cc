#include <algorithm>
#include <array>
#include <utility>

#include "cost/cost_models.h"

namespace tracedb {

bool Contains(std::string_view text, std::string_view piece) {
  return text.find(piece) != text.npos;
}

Count Product(std::span<const int64_t> sizes) {
  Count product = 1;
  for (const int64_t size : sizes) product *= size;
  return product;
}

Count Numel(const Tensor& tensor) { return Product(tensor.dims); }

Count FullBytes(const Tensor& tensor) { return Numel(tensor) * BytesOf(tensor.type); }

Count DistinctBytes(const Tensor& tensor) {
  Count elements = 1;
  for (size_t i = 0; i < tensor.dims.size(); ++i) {
    const bool is_expanded = !tensor.strides.empty() && tensor.strides[i] == 0;
    elements *= is_expanded ? std::min<int64_t>(tensor.dims[i], 1) : tensor.dims[i];
  }
  return elements * BytesOf(tensor.type);
}

std::string SizesText(std::span<const int64_t> sizes) {
  std::string text = "[";
  for (size_t i = 0; i < sizes.size(); ++i) {
    if (i > 0) text += ',';
    text += std::to_string(sizes[i]);
  }
  return text + "]";
}

bool IsFloating(DType type) {
  switch (type) {
    case DType::kFloat64:
    case DType::kFloat32:
    case DType::kBFloat16:
    case DType::kFloat16:
    case DType::kFloat8:
    case DType::kFloat4x2:
      return true;
    default:
      return false;
  }
}

namespace {

// Names of kernels that multiply FP32 numbers as TF32: those that say so, CUTLASS's and cuBLAS's
// for m16n8k8 without a type before it, and cuBLAS's of Hopper and later, which know no FP32.
bool IsTf32Kernel(std::string_view kernel) {
  if (Contains(kernel, "tf32") || Contains(kernel, "TF32") || Contains(kernel, "XF32")) return true;
  if (Contains(kernel, "nvjet")) return true;
  return Contains(kernel, "tensorop_s1688") || Contains(kernel, "tensorop_f32_s1688");
}

// From the widest on.
std::string_view NameOf(DType type, std::string_view kernel) {
  switch (type) {
    case DType::kFloat64:
      return "fp64";
    case DType::kFloat32:
      return IsTf32Kernel(kernel) ? "tf32" : "fp32";
    case DType::kBFloat16:
      return "bf16";
    case DType::kFloat16:
      return "fp16";
    case DType::kFloat8:
      return "fp8";
    case DType::kInt8:
      return "int8";
    case DType::kFloat4x2:
      return "fp4";
    default:
      return {};
  }
}

}  // namespace

std::string_view ProductType(DType a, DType b, std::string_view kernel) {
  constexpr std::array<DType, 7> kWidestFirst = {DType::kFloat64, DType::kFloat32, DType::kBFloat16,
                                                 DType::kFloat16, DType::kFloat8,  DType::kInt8,
                                                 DType::kFloat4x2};
  for (const DType type : kWidestFirst) {
    if (a == type || b == type) {
      const bool both = !NameOf(a, {}).empty() && !NameOf(b, {}).empty();
      return both ? NameOf(type, kernel) : std::string_view();
    }
  }
  return {};
}

DType TypeFromNumber(std::string_view number) {
  struct Numbered {
    std::string_view number;
    DType type;
  };
  constexpr std::array<Numbered, 14> kTypes = {{{"0", DType::kInt8},
                                                {"1", DType::kInt8},
                                                {"2", DType::kInt16},
                                                {"3", DType::kInt32},
                                                {"4", DType::kInt64},
                                                {"5", DType::kFloat16},
                                                {"6", DType::kFloat32},
                                                {"7", DType::kFloat64},
                                                {"11", DType::kBool},
                                                {"15", DType::kBFloat16},
                                                {"23", DType::kFloat8},
                                                {"24", DType::kFloat8},
                                                {"25", DType::kFloat8},
                                                {"26", DType::kFloat8}}};
  const auto known = std::find_if(kTypes.begin(), kTypes.end(),
                                  [&](const Numbered& type) { return type.number == number; });
  return known == kTypes.end() ? DType::kUnknown : known->type;
}

// Kernels of lists name the elements' type as the first argument of their functor; those that only
// move them, a type of its size.
int64_t ItemBytesFromKernel(std::string_view kernel) {
  constexpr std::array<std::pair<std::string_view, int64_t>, 5> kOpaque = {
      {{"OpaqueType<1u>", 1},
       {"OpaqueType<2u>", 2},
       {"OpaqueType<4u>", 4},
       {"OpaqueType<8u>", 8},
       {"OpaqueType<16u>", 16}}};
  for (const auto& [name, bytes] : kOpaque) {
    if (Contains(kernel, name)) return bytes;
  }
  for (const std::string_view marker : {"Functor<", "CatArrayBatchedCopy<"}) {
    for (size_t at = kernel.find(marker); at != kernel.npos; at = kernel.find(marker, at + 1)) {
      std::string_view type = kernel.substr(at + marker.size());
      type = type.substr(0, type.find_first_of(",>"));
      const int64_t bytes = BytesOf(TypeFromText(type));
      if (bytes > 0) return bytes;
    }
  }
  return 0;
}

}  // namespace tracedb
