#include "ingest/parse/rocprof_fields.h"

#include <array>

#include "tracedb/json/json_text.h"

namespace tracedb {
namespace {

// Of a text among the args, as rocprof writes them all; empty: it is not there.
std::string_view ArgText(std::string_view args, std::string_view key) {
  for (size_t at = args.find(key); at != std::string_view::npos; at = args.find(key, at + 1)) {
    const size_t end = at + key.size();
    if (at == 0 || args[at - 1] != '"' || end >= args.size() || args[end] != '"') continue;
    const size_t quote = args.find('"', end + 1);
    if (quote == std::string_view::npos) return {};
    const size_t closing = args.find('"', quote + 1);
    if (closing == std::string_view::npos) return {};
    return args.substr(quote, closing + 1 - quote);
  }
  return {};
}

bool HasAny(std::string_view name, const std::array<std::string_view, 3>& words) {
  for (const std::string_view word : words) {
    if (name.find(word) != std::string_view::npos) return true;
  }
  return false;
}

}  // namespace

void FillRocprofFields(EventFields& fields) {
  constexpr std::array<std::string_view, 3> kCopies = {"Copy", "Memcpy", "async-copy"};
  if (Unquoted(fields.phase) != "X" || ArgText(fields.args, "BeginNs").empty() ||
      ArgText(fields.args, "EndNs").empty()) {
    return;
  }
  const std::string_view name = Unquoted(fields.name);
  const std::string_view device = ArgText(fields.args, "dev-id");
  if (device.empty()) {
    const bool is_call = name.starts_with("hip") || name.starts_with("hsa");
    if (name == "async-copy") {
      fields.category = "\"gpu_memcpy\"";
    } else {
      fields.category = is_call ? "\"cuda_runtime\"" : "\"user_annotation\"";
    }
    return;
  }
  if (name.find("barrier packet") != std::string_view::npos) return;  // it waits, and computes not
  fields.device = device;
  fields.stream = ArgText(fields.args, "stream-id");
  if (name.find("Fill") != std::string_view::npos && name.find('(') == std::string_view::npos) {
    fields.category = "\"gpu_memset\"";
  } else if (HasAny(name, kCopies) && name.find('(') == std::string_view::npos) {
    fields.category = "\"gpu_memcpy\"";
  } else {
    fields.category = "\"kernel\"";
  }
}

}  // namespace tracedb
