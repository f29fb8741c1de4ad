#include "sources/inspector/inspector_record.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <system_error>
#include <unordered_map>

#include "tracedb/json/json_check.h"
#include "tracedb/json/json_text.h"

namespace tracedb {
namespace {

template <typename T>
std::optional<T> Parsed(std::string_view token) {
  T value{};
  const char* const end = token.data() + token.size();
  const auto [behind, error] = std::from_chars(token.data(), end, value);
  if (error != std::errc() || behind != end) return std::nullopt;
  return value;
}

std::optional<int64_t> Whole(const JsonLeaf& leaf) {
  if (const auto whole = Parsed<int64_t>(leaf.token)) return whole;
  const auto real = Parsed<double>(leaf.token);  // "5663.0"
  constexpr double kMost = 9e18;
  if (!real || !(std::abs(*real) < kMost)) return std::nullopt;
  return std::llround(*real);
}

// Of microseconds; 0 is no time, but an event that was not seen.
std::optional<int64_t> Time(const JsonLeaf& leaf) {
  const std::optional<int64_t> us = Whole(leaf);
  constexpr int64_t kMost = INT64_MAX / 1000;
  if (!us || *us <= 0 || *us > kMost) return std::nullopt;
  return *us * 1000;
}

void Earliest(std::optional<int64_t>& of, std::optional<int64_t> time) {
  if (time && (!of || *time < *of)) of = time;
}

void Latest(std::optional<int64_t>& of, std::optional<int64_t> time) {
  if (time && (!of || *time > *of)) of = time;
}

std::string Text(const JsonLeaf& leaf) {
  return leaf.is_string ? UnescapedJson(leaf.token) : std::string(leaf.token);
}

using Take = void (*)(InspectorRecord&, const JsonLeaf&);

template <std::string InspectorRecord::*field>
void TakeText(InspectorRecord& record, const JsonLeaf& leaf) {
  record.*field = Text(leaf);
}
template <std::optional<int64_t> InspectorRecord::*field>
void TakeWhole(InspectorRecord& record, const JsonLeaf& leaf) {
  record.*field = Whole(leaf);
}
template <std::optional<double> InspectorRecord::*field>
void TakeReal(InspectorRecord& record, const JsonLeaf& leaf) {
  record.*field = Parsed<double>(leaf.token);
}
template <std::optional<int64_t> InspectorRecord::*field>
void TakeTime(InspectorRecord& record, const JsonLeaf& leaf) {
  record.*field = Time(leaf);
}
void Ignore(InspectorRecord&, const JsonLeaf&) {}

// What coll_perf and p2p_perf have under keys of the same ends.
const std::unordered_map<std::string_view, Take>& PerfFields() {
  using R = InspectorRecord;
  static const std::unordered_map<std::string_view, Take> fields = {
      {"sn", TakeWhole<&R::sn>},
      {"msg_size_bytes", TakeWhole<&R::bytes>},
      {"exec_time_us", TakeReal<&R::exec_us>},
      {"timing_source", TakeText<&R::timing_source>},
      {"algobw_gbs", TakeReal<&R::algbw_gbps>},
      {"busbw_gbs", TakeReal<&R::busbw_gbps>},
      {"algo", TakeText<&R::algorithm>},
      {"proto", TakeText<&R::protocol>},
      {"n_channels", TakeWhole<&R::channels>},
      {"peer", TakeWhole<&R::peer>},
  };
  return fields;
}

const std::unordered_map<std::string_view, Take>& Fields() {
  using R = InspectorRecord;
  static const std::unordered_map<std::string_view, Take> fields = {
      {"header.id", TakeText<&R::communicator_id>},
      {"header.comm_id", TakeText<&R::communicator_id>},
      {"header.comm_name", TakeText<&R::communicator_name>},
      {"header.rank", TakeWhole<&R::rank>},
      {"header.n_ranks", TakeWhole<&R::ranks>},
      {"header.nnodes", TakeWhole<&R::nodes>},
      {"metadata.comm_name", TakeText<&R::communicator_name>},
      {"metadata.inspector_output_format_version", TakeText<&R::version>},
      {"metadata.git_rev", TakeText<&R::git_rev>},
      {"metadata.rec_mechanism", TakeText<&R::mechanism>},
      {"metadata.dump_timestamp_us", TakeTime<&R::dump_ns>},
      {"metadata.hostname", TakeText<&R::host>},
      {"metadata.pid", TakeWhole<&R::pid>},
      {"dump_stats.coll_records", TakeWhole<&R::collective_records>},
      {"dump_stats.p2p_records", TakeWhole<&R::p2p_records>},
      {"dump_stats.coll_dropped_since_last_dump", TakeWhole<&R::collectives_dropped>},
      {"dump_stats.p2p_dropped_since_last_dump", TakeWhole<&R::p2ps_dropped>},
      {"dump_stats.coll_dropped_total", Ignore},  // the sum of those
      {"dump_stats.p2p_dropped_total", Ignore},
  };
  return fields;
}

void AddOther(InspectorRecord& record, std::string_view path, const JsonLeaf& leaf) {
  if (!record.others.empty()) record.others += ',';
  AppendJsonString(record.others, UnescapedJson(path));
  record.others += ':';
  const bool is_json = !leaf.is_string && (leaf.token == "true" || leaf.token == "false" ||
                                           leaf.token == "null" || IsJsonNumber(leaf.token));
  if (is_json) {
    record.others += leaf.token;
  } else {
    AppendJsonString(record.others, Text(leaf));
  }
}

// Times of a verbose record; false: `path`, of coll_perf or p2p_perf, is none of them.
bool TakeEvent(InspectorRecord& record, std::string_view path, const JsonLeaf& leaf) {
  if (path.starts_with("event_trace_sn.")) return true;  // only the order of the times
  if (!path.starts_with("event_trace_ts.")) return false;
  path.remove_prefix(path.find('.') + 1);
  if (path == "coll_start_ts" || path == "p2p_start_ts") {
    record.call_ns = Time(leaf);
  } else if (path == "coll_stop_ts" || path == "p2p_stop_ts") {
    record.call_end_ns = Time(leaf);
  } else if (path == "kernel_events.kernel_start_ts") {
    Earliest(record.kernel_start_ns, Time(leaf));
  } else if (path == "kernel_events.kernel_stop_ts") {
    Latest(record.kernel_end_ns, Time(leaf));
  } else if (path == "kernel_events.channel_id") {
    ++record.kernel_channels;
  }
  return true;
}

void TakePerf(InspectorRecord& record, std::string_view path, const JsonLeaf& leaf, bool is_p2p) {
  const std::string_view prefix = is_p2p ? "p2p" : "coll";
  record.is_collective = record.is_collective || !is_p2p;
  record.is_p2p = record.is_p2p || is_p2p;
  if (path == prefix) {
    record.operation = Text(leaf);
    return;
  }
  if (path.starts_with(prefix) && path.size() > prefix.size() && path[prefix.size()] == '_') {
    const auto known = PerfFields().find(path.substr(prefix.size() + 1));
    if (known != PerfFields().end()) return known->second(record, leaf);
  }
  if (!TakeEvent(record, path, leaf)) AddOther(record, path, leaf);
}

}  // namespace

bool ReadInspectorRecord(std::string_view object, JsonLeaves& leaves, InspectorRecord& record) {
  record = InspectorRecord();
  const bool is_whole = leaves.Read(object, [&](const JsonLeaf& leaf) {
    for (const bool is_p2p : {false, true}) {
      const std::string_view perf = is_p2p ? "p2p_perf." : "coll_perf.";
      if (leaf.path.starts_with(perf)) {
        return TakePerf(record, leaf.path.substr(perf.size()), leaf, is_p2p);
      }
    }
    record.is_dump = record.is_dump || leaf.path.starts_with("dump_stats.");
    const auto known = Fields().find(leaf.path);
    if (known != Fields().end()) return known->second(record, leaf);
    AddOther(record, leaf.path, leaf);
  });
  return is_whole && (record.is_collective || record.is_p2p || record.is_dump);
}

}  // namespace tracedb
