#include "ingest/build/trace_header.h"

#include <charconv>
#include <map>
#include <new>

#define SIMDJSON_EXCEPTIONS 0
#include <simdjson.h>

#include "ingest/build/args_text.h"
#include "tracedb/ingest/read/rank_in_name.h"
#include "tracedb/json/json_check.h"
#include "tracedb/json/json_text.h"

namespace tracedb {
namespace {

namespace dom = simdjson::dom;

// A header value as valid JSON text.
std::string ValidValue(const std::string& raw, const std::string& key, EventIssues& issues) {
  if (IsJson(raw)) return MinifiedJson(raw);
  std::string mended;
  RepairJson(raw, mended);
  issues.Add(IssueKind::kHeaderMalformed, 0, key + ": " + raw);
  if (IsJson(mended)) return MinifiedJson(mended);
  std::string quoted;
  AppendJsonString(quoted, raw);
  return quoted;
}

std::optional<int64_t> IntOf(dom::element value) {
  int64_t number;
  if (value.get_int64().get(number) == simdjson::SUCCESS) return number;
  std::string_view text;
  if (value.get_string().get(text) != simdjson::SUCCESS) return std::nullopt;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return number;
}

std::optional<std::string> TextOf(dom::element value) {
  std::string_view text;
  if (value.get_string().get(text) != simdjson::SUCCESS) return std::nullopt;
  return std::string(text);
}

HeaderGroup GroupOf(dom::object group) {
  HeaderGroup read;
  for (const dom::key_value_pair member : group) {
    if (member.key == "pg_name") read.name = TextOf(member.value).value_or("");
    if (member.key == "pg_desc") read.description = TextOf(member.value).value_or("");
    if (member.key == "pg_size") read.size = IntOf(member.value).value_or(0);
    if (member.key == "ranks") {
      // An array, or the text of one.
      const auto list = TextOf(member.value);
      read.ranks = SortedRanks(list ? *list : simdjson::minify(member.value)).value_or("");
    }
  }
  return read;
}

void ReadDistributedInfo(dom::element value, TraceHeader& header) {
  dom::object object;
  if (value.get_object().get(object) != simdjson::SUCCESS) return;
  for (const dom::key_value_pair member : object) {
    if (member.key == "rank") header.rank = IntOf(member.value);
    if (member.key == "world_size") header.world_size = IntOf(member.value);
    dom::array groups;
    if (member.key != "pg_config" || member.value.get_array().get(groups) != simdjson::SUCCESS) {
      continue;
    }
    for (const dom::element group : groups) {
      dom::object object_of_group;
      if (group.get_object().get(object_of_group) == simdjson::SUCCESS) {
        HeaderGroup read = GroupOf(object_of_group);
        // Without ranks it says nothing that is stored, but many of them take much memory.
        if (!read.ranks.empty()) header.groups.push_back(std::move(read));
      }
    }
  }
}

void ReadValue(const std::string& key, dom::element value, TraceHeader& header,
               EventIssues& issues) {
  if (key == "distributedInfo") {
    ReadDistributedInfo(value, header);
  } else if (key == "baseTimeNanoseconds") {
    header.base_time_ns = IntOf(value);
    if (!header.base_time_ns.has_value()) {
      issues.Add(IssueKind::kHeaderMalformed, 0, key + ": " + simdjson::minify(value));
    }
  } else if (key == "host_name" || key == "hostname" || key == "host") {
    header.host = TextOf(value);
  } else if (key == "deviceProperties") {
    dom::element name;
    if (value.at_pointer("/0/name").get(name) == simdjson::SUCCESS) header.gpu_name = TextOf(name);
  }
}

}  // namespace

TraceHeader ReadTraceHeader(const HeaderReader::Entries& entries, EventIssues& issues) {
  TraceHeader header;
  dom::parser parser;
  std::map<std::string, size_t> last;  // of a key written twice the last value counts
  for (size_t i = 0; i < entries.size(); ++i) last[UnescapedJson(entries[i].first)] = i;
  std::string json = "{";
  for (size_t i = 0; i < entries.size(); ++i) {
    const std::string key = UnescapedJson(entries[i].first);
    if (last[key] != i) continue;
    const std::string value = ValidValue(entries[i].second, key, issues);
    dom::element element;
    const simdjson::error_code parsed = parser.parse(value).get(element);
    if (parsed == simdjson::MEMALLOC) throw std::bad_alloc();
    if (parsed == simdjson::SUCCESS) ReadValue(key, element, header, issues);
    if (json.size() > 1) json += ',';
    AppendJsonString(json, key);
    json += ':';
    json += value;
  }
  if (json.size() > 1) header.json = json + "}";
  return header;
}

RankChoice ChooseRank(const TraceHeader& header, const std::filesystem::path& path,
                      std::optional<int64_t> option) {
  if (header.rank.has_value()) return {*header.rank, "header"};
  if (const auto rank = RankInName(path.filename().string()); rank.has_value()) {
    return {*rank, "file name"};
  }
  if (option.has_value()) return {*option, "option"};
  return {0, kRankChosen};
}

}  // namespace tracedb
