#include "cost/op_args.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <utility>

#include "cost/json_cursor.h"
#include "tracedb/cost/op_cost.h"

namespace tracedb {
namespace {

constexpr size_t kArgsMax = 2048;
constexpr size_t kTensorsMax = 65536;  // of all lists together
constexpr size_t kDimsMax = 16;
constexpr size_t kGivenMax = 256;               // numbers in a list given as text
constexpr int64_t kSizeMax = int64_t{1} << 48;  // of one dimension

struct TypeName {
  std::string_view name;
  DType type;
};
constexpr std::array<TypeName, 46> kTypeNames = {{
    {"float", DType::kFloat32},
    {"c10::BFloat16", DType::kBFloat16},
    {"c10::Half", DType::kFloat16},
    {"double", DType::kFloat64},
    {"long int", DType::kInt64},
    {"int", DType::kInt32},
    {"bool", DType::kBool},
    {"unsigned char", DType::kInt8},
    {"signed char", DType::kInt8},
    {"short int", DType::kInt16},
    {"c10::Float8_e4m3fn", DType::kFloat8},
    {"c10::Float8_e5m2", DType::kFloat8},
    {"c10::Float8_e4m3fnuz", DType::kFloat8},
    {"c10::Float8_e5m2fnuz", DType::kFloat8},
    {"c10::Float8_e8m0fnu", DType::kFloat8},
    {"c10::Float4_e2m1fn_x2", DType::kFloat4x2},
    {"c10::complex<float>", DType::kComplex64},
    {"c10::complex<double>", DType::kComplex128},
    {"short unsigned int", DType::kInt16},
    {"unsigned int", DType::kInt32},
    {"long unsigned int", DType::kInt64},
    {"unsigned short", DType::kInt16},
    {"unsigned long", DType::kInt64},
    {"long long int", DType::kInt64},
    {"long", DType::kInt64},
    {"short", DType::kInt16},
    {"__nv_bfloat16", DType::kBFloat16},
    {"__hip_bfloat16", DType::kBFloat16},
    {"__half", DType::kFloat16},
    {"half", DType::kFloat16},
    {"float32", DType::kFloat32},
    {"float64", DType::kFloat64},
    {"float16", DType::kFloat16},
    {"bfloat16", DType::kBFloat16},
    {"int64", DType::kInt64},
    {"int32", DType::kInt32},
    {"int16", DType::kInt16},
    {"int8", DType::kInt8},
    {"uint8", DType::kInt8},
    {"fp32", DType::kFloat32},
    {"fp16", DType::kFloat16},
    {"bf16", DType::kBFloat16},
    {"i64", DType::kInt64},
    {"i32", DType::kInt32},
    {"i1", DType::kBool},
    {"i8", DType::kInt8},
}};

// What one of "Input Dims" and "Input Strides" says of an arg.
struct Sizes {
  bool is_list = false;
  std::vector<std::vector<int64_t>> rows;
};

bool ReadSizes(JsonCursor& json, Sizes& sizes, size_t& tensors) {
  if (!json.Take('[')) return false;
  sizes.rows.clear();
  sizes.is_list = json.Sees('[');
  if (!sizes.is_list) sizes.rows.emplace_back();
  if (json.Take(']')) return true;
  for (;;) {
    std::vector<int64_t>* row = sizes.is_list ? &sizes.rows.emplace_back() : &sizes.rows[0];
    if (sizes.is_list && ++tensors > kTensorsMax) return false;
    if (sizes.is_list && !json.Take('[')) return false;
    const bool is_empty = sizes.is_list && json.Take(']');
    while (!is_empty) {
      int64_t size = 0;
      if (!json.TakeInteger(size) || size < 0 || size > kSizeMax) return false;
      if (row->size() == kDimsMax) return false;
      row->push_back(size);
      if (json.Take(',')) continue;
      if (!json.Take(']')) return false;
      break;
    }
    if (!sizes.is_list) return true;
    if (json.Take(']')) return true;
    if (!json.Take(',')) return false;
  }
}

bool ReadAllSizes(JsonCursor& json, std::vector<Sizes>& all) {
  if (!json.Take('[')) return false;
  if (json.Take(']')) return true;
  size_t tensors = 0;
  for (;;) {
    if (all.size() == kArgsMax) return false;
    // Writers other than Kineto's give scalars no brackets.
    if (!json.Sees('[')) {
      all.emplace_back();
      if (!json.SkipValue()) return false;
    } else if (!ReadSizes(json, all.emplace_back(), tensors)) {
      return false;
    }
    if (json.Take(']')) return true;
    if (!json.Take(',')) return false;
  }
}

bool ReadTexts(JsonCursor& json, std::vector<std::string>& all) {
  if (!json.Take('[')) return false;
  if (json.Take(']')) return true;
  for (;;) {
    if (all.size() == kArgsMax) return false;
    if (!json.TakeString(all.emplace_back()) && !json.SkipValue()) return false;
    if (json.Take(']')) return true;
    if (!json.Take(',')) return false;
  }
}

struct Parts {
  std::vector<Sizes> dims, strides;
  std::vector<std::string> types, given;
};

void AddTensors(const Parts& parts, size_t index, OpArg& arg) {
  const Sizes& dims = parts.dims[index];
  const Sizes* strides = index < parts.strides.size() ? &parts.strides[index] : nullptr;
  for (size_t i = 0; i < dims.rows.size(); ++i) {
    Tensor& tensor = arg.tensors.emplace_back();
    tensor.type = TypeFromText(arg.type);
    tensor.dims = dims.rows[i];
    if (strides != nullptr && i < strides->rows.size() &&
        strides->rows[i].size() == tensor.dims.size()) {
      tensor.strides = strides->rows[i];
    }
  }
}

OpArgs ArgsOf(const Parts& parts) {
  OpArgs args;
  for (size_t i = 0; i < parts.dims.size(); ++i) {
    OpArg& arg = args.args.emplace_back();
    if (i < parts.types.size()) arg.type = parts.types[i];
    if (i < parts.given.size()) arg.given = parts.given[i];
    arg.is_list = arg.type == "TensorList" || parts.dims[i].is_list;
    const bool is_none = arg.type.empty() || arg.type == "Scalar" || arg.type == "ScalarList";
    // Of lists that are too long to be recorded nothing stands there.
    const bool is_unsaid = arg.is_list && !parts.dims[i].is_list;
    if (!is_none && !is_unsaid) AddTensors(parts, i, arg);
  }
  return args;
}

std::string_view Trimmed(std::string_view text) {
  while (!text.empty() && text.front() == ' ') text.remove_prefix(1);
  while (!text.empty() && text.back() == ' ') text.remove_suffix(1);
  return text;
}

// The items of "[a, b]"; of a text without brackets itself.
std::optional<std::vector<std::string_view>> ItemsOf(std::string_view text) {
  text = Trimmed(text);
  if (text.empty()) return std::nullopt;
  if (text.front() == '[') {
    if (text.size() < 2 || text.back() != ']') return std::nullopt;
    text = Trimmed(text.substr(1, text.size() - 2));
    if (text.empty()) return std::vector<std::string_view>();
  }
  std::vector<std::string_view> items;
  for (;;) {
    if (items.size() == kGivenMax) return std::nullopt;
    const size_t comma = text.find(',');
    items.push_back(Trimmed(text.substr(0, comma)));
    if (comma == text.npos) return items;
    text.remove_prefix(comma + 1);
  }
}

}  // namespace

DType TypeFromText(std::string_view text) {
  const auto known = std::find_if(kTypeNames.begin(), kTypeNames.end(),
                                  [&](const TypeName& name) { return name.name == text; });
  return known == kTypeNames.end() ? DType::kUnknown : known->type;
}

int64_t BytesOf(DType type) {
  switch (type) {
    case DType::kUnknown:
      return 0;
    case DType::kComplex128:
      return 16;
    case DType::kFloat64:
    case DType::kInt64:
    case DType::kComplex64:
      return 8;
    case DType::kFloat32:
    case DType::kInt32:
      return 4;
    case DType::kBFloat16:
    case DType::kFloat16:
    case DType::kInt16:
      return 2;
    case DType::kFloat8:
    case DType::kFloat4x2:
    case DType::kInt8:
    case DType::kBool:
      return 1;
  }
  return 0;
}

const Tensor* OpArgs::TensorAt(size_t index) const {
  if (index >= args.size() || args[index].is_list || args[index].tensors.size() != 1) {
    return nullptr;
  }
  return &args[index].tensors[0];
}

const std::vector<Tensor>* OpArgs::ListAt(size_t index) const {
  return index < args.size() && args[index].is_list ? &args[index].tensors : nullptr;
}

std::string_view OpArgs::GivenAt(size_t index) const {
  return index < args.size() ? std::string_view(args[index].given) : std::string_view();
}

std::optional<OpArgs> ReadOpArgs(std::string_view text) {
  if (text.size() > kOpArgsBytesMax) return std::nullopt;
  JsonCursor json(text);
  if (!json.Take('{')) return std::nullopt;
  Parts parts;
  std::string key;
  std::string kwargs;
  bool has_dims = false;
  while (!json.Take('}')) {
    if (!json.TakeString(key) || !json.Take(':')) return std::nullopt;
    bool ok = true;
    if (key == "Input Dims" || key == "Input dims") {
      ok = !std::exchange(has_dims, true) && ReadAllSizes(json, parts.dims);
    } else if (key == "Input Strides" && parts.strides.empty()) {
      ok = ReadAllSizes(json, parts.strides);
    } else if (key == "Input type" && parts.types.empty()) {
      ok = ReadTexts(json, parts.types);
    } else if (key == "Concrete Inputs" && parts.given.empty()) {
      ok = ReadTexts(json, parts.given);
    } else if (key == "kernel_kwargs" && json.Sees('"')) {
      ok = json.TakeString(kwargs);
    } else {
      ok = json.SkipValue();
    }
    if (!ok) return std::nullopt;
    if (!json.Take(',') && !json.Sees('}')) return std::nullopt;
  }
  if (!has_dims) return std::nullopt;
  OpArgs args = ArgsOf(parts);
  args.kernel_kwargs = std::move(kwargs);
  return args;
}

std::optional<bool> FlagFromText(std::string_view text) {
  if (text == "True" || text == "true") return true;
  if (text == "False" || text == "false") return false;
  return std::nullopt;
}

std::optional<int64_t> IntFromText(std::string_view text) {
  int64_t number = 0;
  const auto [stop, code] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (code != std::errc() || stop != text.data() + text.size()) return std::nullopt;
  return number;
}

std::optional<std::vector<int64_t>> IntsFromText(std::string_view text) {
  const auto items = ItemsOf(text);
  if (!items.has_value()) return std::nullopt;
  std::vector<int64_t> numbers;
  for (const std::string_view item : *items) {
    const std::optional<int64_t> number = IntFromText(item);
    if (!number.has_value()) return std::nullopt;
    numbers.push_back(*number);
  }
  return numbers;
}

std::optional<std::vector<bool>> FlagsFromText(std::string_view text) {
  const auto items = ItemsOf(text);
  if (!items.has_value()) return std::nullopt;
  std::vector<bool> flags;
  for (const std::string_view item : *items) {
    const std::optional<bool> flag = FlagFromText(item);
    if (!flag.has_value()) return std::nullopt;
    flags.push_back(*flag);
  }
  return flags;
}

}  // namespace tracedb
