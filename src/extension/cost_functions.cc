#include "tracedb/extension/cost_functions.h"

#ifdef TRACEDB_LOADABLE
#include <sqlite3ext.h>
SQLITE_EXTENSION_INIT3
#else
#include <sqlite3.h>
#endif

#include <exception>
#include <new>
#include <string>
#include <string_view>

#include "tracedb/cost/op_cost.h"

namespace tracedb {
namespace {

std::string_view TextOf(sqlite3_value* value) {
  const auto* text = reinterpret_cast<const char*>(sqlite3_value_text(value));
  if (text == nullptr) return {};
  return {text, static_cast<size_t>(sqlite3_value_bytes(value))};
}

void AppendText(std::string& json, std::string_view text) {
  json += '"';
  for (const char letter : text) {
    const auto byte = static_cast<unsigned char>(letter);
    if (byte < 0x20) {
      json += ' ';
      continue;
    }
    if (letter == '"' || letter == '\\') json += '\\';
    json += letter;
  }
  json += '"';
}

std::string JsonOf(const OpCost& cost) {
  std::string json = "{\"shapes\":";
  AppendText(json, cost.shapes);
  if (!cost.dtype.empty()) {
    json += ",\"dtype\":";
    AppendText(json, cost.dtype);
  }
  if (cost.flops.has_value()) json += ",\"flops\":" + std::to_string(*cost.flops);
  if (cost.bytes.has_value()) json += ",\"bytes\":" + std::to_string(*cost.bytes);
  if (cost.narrow.has_value()) json += ",\"narrow\":" + std::to_string(*cost.narrow);
  return json + "}";
}

void GiveText(sqlite3_context* context, std::string_view text) {
  if (text.empty()) return sqlite3_result_null(context);
  sqlite3_result_text(context, text.data(), static_cast<int>(text.size()), SQLITE_TRANSIENT);
}

void GiveCost(sqlite3_context* context, int count, sqlite3_value** values) {
  try {
    OpSurroundings around;
    if (count > 2) around.kernel = TextOf(values[2]);
    if (count > 3) around.annotation = TextOf(values[3]);
    const std::optional<OpCost> cost = CostOf(TextOf(values[0]), TextOf(values[1]), around);
    GiveText(context, cost.has_value() ? JsonOf(*cost) : std::string());
  } catch (const std::bad_alloc&) {
    sqlite3_result_error_nomem(context);
  } catch (const std::exception& error) {
    sqlite3_result_error(context, error.what(), -1);
  }
}

template <std::string_view (*category)(std::string_view)>
void GiveCategory(sqlite3_context* context, int, sqlite3_value** values) {
  try {
    GiveText(context, category(TextOf(values[0])));
  } catch (const std::bad_alloc&) {
    sqlite3_result_error_nomem(context);
  }
}

}  // namespace

int RegisterCostFunctions(sqlite3* db) {
  constexpr int kFlags = SQLITE_UTF8 | SQLITE_DETERMINISTIC | SQLITE_INNOCUOUS;
  for (int count = 2; count <= 4; ++count) {
    const int code = sqlite3_create_function_v2(db, "op_cost", count, kFlags, nullptr, GiveCost,
                                                nullptr, nullptr, nullptr);
    if (code != SQLITE_OK) return code;
  }
  const int code = sqlite3_create_function_v2(db, "op_category", 1, kFlags, nullptr,
                                              GiveCategory<OpCategory>, nullptr, nullptr, nullptr);
  if (code != SQLITE_OK) return code;
  return sqlite3_create_function_v2(db, "kernel_category", 1, kFlags, nullptr,
                                    GiveCategory<KernelCategory>, nullptr, nullptr, nullptr);
}

}  // namespace tracedb
