// An operator's call as a test writes it: "bf16[2,3] f32[4] 5 True -", one word an arg.
#pragma once

#include <optional>
#include <sstream>
#include <string>
#include <string_view>

#include "tracedb/cost/op_cost.h"

namespace tracedb {

// Words: TYPE[sizes], TYPE[sizes/strides], list(TYPE[..];TYPE[..]), - for none, anything else as
// given (blanks written as _).
inline std::string CallArgs(const std::string& words) {
  const auto long_name = [](const std::string& type) -> std::string {
    if (type == "bf16") return "c10::BFloat16";
    if (type == "f16") return "c10::Half";
    if (type == "f32") return "float";
    if (type == "f64") return "double";
    if (type == "f8") return "c10::Float8_e4m3fn";
    if (type == "f4") return "c10::Float4_e2m1fn_x2";
    if (type == "i64") return "long int";
    if (type == "i32") return "int";
    if (type == "i8") return "signed char";
    if (type == "u8") return "unsigned char";
    if (type == "b") return "bool";
    return type;
  };
  std::string dims, strides, types, given;
  std::istringstream input(words);
  for (std::string word; input >> word;) {
    std::string dim = "[]", stride = "[]", type, text;
    if (word.starts_with("list(")) {
      type = "TensorList";
      dim.clear();
      std::istringstream items(word.substr(5, word.size() - 6));
      for (std::string item; std::getline(items, item, ';');) {
        dim += (dim.empty() ? "" : ",") + item.substr(item.find('['));
      }
      dim = "[" + dim + "]";
    } else if (const size_t open = word.find('['); open != word.npos && open > 0) {
      type = long_name(word.substr(0, open));
      const size_t slash = word.find('/');
      dim = slash == word.npos ? word.substr(open) : word.substr(open, slash - open) + "]";
      if (slash != word.npos) stride = "[" + word.substr(slash + 1);
    } else if (word != "-") {
      type = "Scalar";
      for (const char letter : word) text += letter == '_' ? ' ' : letter;
    }
    const char* comma = types.empty() ? "" : ",";
    dims += comma + dim;
    strides += comma + stride;
    given += comma + ("\"" + text + "\"");
    types += comma + ("\"" + type + "\"");
  }
  return "{\"Input Dims\":[" + dims + "],\"Input Strides\":[" + strides + "],\"Input type\":[" +
         types + "],\"Concrete Inputs\":[" + given + "]}";
}

// "flops bytes dtype", with - for what is not known; "none" without a model or with wrong sizes.
inline std::string Costs(std::string_view op, const std::string& words,
                         std::string_view kernel = {}, std::string_view annotation = {}) {
  const std::optional<OpCost> cost = CostOf(op, CallArgs(words), {kernel, annotation});
  if (!cost.has_value()) return "none";
  const auto text = [](const std::optional<int64_t>& count) {
    return count.has_value() ? std::to_string(*count) : std::string("-");
  };
  return text(cost->flops) + " " + text(cost->bytes) +
         (cost->dtype.empty() ? "" : " " + std::string(cost->dtype));
}

}  // namespace tracedb
