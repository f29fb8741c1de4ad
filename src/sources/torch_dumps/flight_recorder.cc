#include "sources/torch_dumps/flight_recorder.h"

#include <charconv>
#include <string>

#include "sources/read/text_words.h"
#include "sources/torch_dumps/dump_row.h"
#include "sources/torch_dumps/dump_stacks.h"
#include "sources/torch_dumps/dump_values.h"
#include "tracedb/ingest/read/rank_in_name.h"

namespace tracedb {
namespace {

// Where a pickled dictionary has its first keys, before any of them has a long value.
constexpr size_t kFirstKeys = 4096;

bool HasAll(std::string_view text, std::initializer_list<std::string_view> words) {
  for (const std::string_view word : words) {
    if (text.find(word) == std::string_view::npos) return false;
  }
  return true;
}

// The name is what TORCH_NCCL_DEBUG_INFO_TEMP_FILE says, with the rank at its end.
std::optional<int64_t> LastNumberOf(std::string_view name) {
  constexpr size_t kDigitsMax = 9;
  if (const size_t dot = name.find('.'); dot != std::string_view::npos) name = name.substr(0, dot);
  const size_t before = name.find_last_not_of("0123456789");
  const std::string_view digits = name.substr(before == std::string_view::npos ? 0 : before + 1);
  int64_t rank = 0;
  if (digits.empty() || digits.size() > kDigitsMax) return std::nullopt;
  std::from_chars(digits.data(), digits.data() + digits.size(), rank);
  return rank;
}

class DumpReading {
 public:
  static Result<DumpReading> Open(SourceRows& rows, const PlainValues& values) {
    TRACEDB_ASSIGN(stacks, DumpStacks::Open(rows, values));
    TRACEDB_ASSIGN(group, DumpRow::Open(rows,
                                        "INSERT INTO _flight_group VALUES (?1, ?2, ?3, "
                                        "?4, ?5, ?6, ?7, ?8)"));
    TRACEDB_ASSIGN(record, DumpRow::Open(rows,
                                         "INSERT INTO _flight_record VALUES (?1, ?2, ?3, ?4, ?5, "
                                         "?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, "
                                         "?17, ?18, ?19, ?20, ?21, ?22, ?23)"));
    return DumpReading(rows, values, std::move(stacks), std::move(group), std::move(record));
  }

  Status Read(ValueId root) {
    TRACEDB_TRY(AddGroups(root));
    for (const ValueId entry : values_.ItemsOf(values_.At(root, "entries"))) {
      TRACEDB_TRY(AddRecord(entry));
    }
    return Done{};
  }

 private:
  DumpReading(SourceRows& rows, const PlainValues& values, DumpStacks stacks, DumpRow group,
              DumpRow record)
      : rows_(rows),
        values_(values),
        stacks_(std::move(stacks)),
        group_(std::move(group)),
        record_(std::move(record)) {}

  ValueId At(ValueId dict, std::string_view key) const { return values_.At(dict, key); }

  std::optional<std::string> TextAt(ValueId dict, std::string_view key) const {
    const auto text = values_.TextOf(At(dict, key));
    return text.has_value() ? std::optional(std::string(*text)) : std::nullopt;
  }

  // A number, or a text that is one: "last_enqueued_collective" is "-1" in some versions.
  std::optional<int64_t> IntAt(ValueId dict, std::string_view key) const {
    const ValueId value = At(dict, key);
    if (const auto number = values_.IntOf(value)) return number;
    const auto text = values_.TextOf(value);
    if (!text.has_value()) return std::nullopt;
    return WholeNumber(*text);
  }

  std::optional<int64_t> TimeAt(ValueId dict, std::string_view key) {
    const auto at_ns = values_.IntOf(At(dict, key));
    if (!at_ns.has_value() || *at_ns <= 0) return std::nullopt;
    rows_.SawTime(*at_ns);
    return at_ns;
  }

  Status AddGroups(ValueId root) {
    const ValueId config = At(root, "pg_config");
    const ValueId status = At(root, "pg_status");
    const std::span<const ValueId> groups = values_.PairsOf(config);
    for (size_t i = 0; i < groups.size(); i += 2) {
      const auto key = values_.TextOf(groups[i]);
      const ValueId group = groups[i + 1];
      if (!key.has_value()) continue;
      TRACEDB_TRY(AddGroup(std::string(*key), group, At(status, *key)));
    }
    // A group of which only the state is known.
    const std::span<const ValueId> states = values_.PairsOf(status);
    for (size_t i = 0; i < states.size(); i += 2) {
      const auto key = values_.TextOf(states[i]);
      if (!key.has_value() || values_.Find(config, *key).has_value()) continue;
      TRACEDB_TRY(AddGroup(std::string(*key), values_.None(), states[i + 1]));
    }
    return Done{};
  }

  Status AddGroup(const std::string& key, ValueId group, ValueId status) {
    const std::optional<std::string> name = TextAt(group, "name");
    // A text that is a list, "[0, 1]"; or a list.
    group_.Add(rows_.source_id).Add(name.has_value() ? name : std::optional(key));
    group_.Add(TextAt(group, "desc")).Add(values_, At(group, "ranks"));
    group_.Add(IntAt(status, "last_enqueued_collective"));
    group_.Add(IntAt(status, "last_started_collective"));
    group_.Add(IntAt(status, "last_completed_collective"));
    group_.Add(OthersOf(rows_, values_, group, {"name", "desc", "ranks"}));
    ++rows_.rows;
    return group_.Write();
  }

  Status AddRecord(ValueId entry) {
    TRACEDB_ASSIGN(stack, stacks_.NumberOf(At(entry, "frames")));
    const std::span<const ValueId> group = values_.ItemsOf(At(entry, "process_group"));
    const auto part = [&](size_t at) {
      return at < group.size() ? values_.TextOf(group[at]) : std::nullopt;
    };
    std::optional<int64_t> seq = IntAt(entry, "collective_seq_id");
    if (!seq.has_value()) seq = IntAt(entry, "seq_id");  // before version 2
    record_.Add(rows_.source_id).Add(IntAt(entry, "record_id")).Add(part(0)).Add(part(1));
    record_.Add(IntAt(entry, "pg_id")).Add(seq).Add(IntAt(entry, "p2p_seq_id"));
    record_.Add(IntAt(entry, "op_id"));
    for (const std::string_view key : {"profiling_name", "state", "is_p2p", "input_sizes",
                                       "input_dtypes", "output_sizes", "output_dtypes"}) {
      record_.Add(values_, At(entry, key));
    }
    record_.Add(TimeAt(entry, "time_created_ns"));
    record_.Add(TimeAt(entry, "time_discovered_started_ns"));
    record_.Add(TimeAt(entry, "time_discovered_completed_ns"));
    record_.Add(values_.NumberOf(At(entry, "duration_ms"))).Add(IntAt(entry, "timeout_ms"));
    record_.Add(values_, At(entry, "retired")).Add(stack);
    record_.Add(OthersOf(rows_, values_, entry,
                         {"record_id",
                          "pg_id",
                          "process_group",
                          "collective_seq_id",
                          "seq_id",
                          "p2p_seq_id",
                          "op_id",
                          "profiling_name",
                          "state",
                          "is_p2p",
                          "input_sizes",
                          "input_dtypes",
                          "output_sizes",
                          "output_dtypes",
                          "time_created_ns",
                          "time_discovered_started_ns",
                          "time_discovered_completed_ns",
                          "duration_ms",
                          "timeout_ms",
                          "retired",
                          "frames"}));
    ++rows_.rows;
    return record_.Write();
  }

  SourceRows& rows_;
  const PlainValues& values_;
  DumpStacks stacks_;
  DumpRow group_, record_;
};

}  // namespace

bool FlightRecorder::Fits(const SourceHead& head) const {
  if (IsPickledDict(head.text)) {
    const std::string_view begin = head.text.substr(0, kFirstKeys);
    return HasAll(begin, {"version"}) &&
           (HasAll(begin, {"pg_config"}) || HasAll(begin, {"pg_status"}) ||
            HasAll(begin, {"entries"}));
  }
  if (!IsJsonObject(head.text) || HasAll(head.text, {"\"traceEvents\""})) return false;
  return HasAll(head.text, {"\"entries\"", "\"profiling_name\""}) ||
         HasAll(head.text, {"\"pg_config\"", "\"pg_status\""});
}

Status FlightRecorder::Read(SourceText& text, SourceRows& rows) const {
  PlainValues values(rows.options.memory_bytes);
  TRACEDB_ASSIGN(root, ReadDump(text, rows, values));
  // What is inside comes first, as for traces.
  rows.rank = values.IntOf(values.At(root, "rank"));
  if (!rows.rank.has_value()) rows.rank = RankInName(FileName(rows.path));
  if (!rows.rank.has_value()) rows.rank = LastNumberOf(FileName(rows.path));
  if (const auto host = values.TextOf(values.At(root, "host_name"))) rows.host = *host;
  TRACEDB_ASSIGN(reading, DumpReading::Open(rows, values));
  TRACEDB_TRY(reading.Read(root));
  if (rows.start_ns.has_value()) rows.time_source = "Unix time";
  return Done{};
}

}  // namespace tracedb
