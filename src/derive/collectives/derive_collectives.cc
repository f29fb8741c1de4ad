// Three numbers are counted for each part: the how many-th it is of its group, of its group and
// pair, and of its group, pair and Seq. Each is a pass over the parts in an order of its own, and a
// fourth order is that in which they are written: rows go from one sort to the next.

#include "derive/collectives/derive_collectives.h"

#include <optional>
#include <string>
#include <tuple>

#include "tracedb/memory/sorted_runs.h"
#include "tracedb/pages/record_encoder.h"

namespace tracedb {
namespace {

constexpr int64_t kHasDur = 1;
constexpr int64_t kHasSeq = 2;
constexpr int64_t kHasStep = 4;
constexpr int64_t kHasLaunch = 8;

struct PartRow {
  int64_t id, ts_ns, dur_ns, step, launch_ns, flags;
  int64_t args_text;    // whose facts are its own
  int64_t group, pair;  // 0: none
  int64_t seq;
  int64_t of_group, of_pair, of_seq;  // counted from 1, by start

  bool has(int64_t flag) const { return (flags & flag) != 0; }
};

struct InGroup {
  static auto Of(const PartRow& row) { return std::tie(row.group); }
};
struct InPair {
  static auto Of(const PartRow& row) { return std::tie(row.group, row.pair); }
};
struct InSeq {
  static auto Of(const PartRow& row) {
    return std::tuple(row.group, row.pair, row.has(kHasSeq), row.seq);
  }
};

// By what they are counted in, then by start.
template <typename Within>
struct Before {
  bool operator()(const PartRow& a, const PartRow& b) const {
    const auto of_a = Within::Of(a);
    const auto of_b = Within::Of(b);
    return of_a != of_b ? of_a < of_b : std::tie(a.ts_ns, a.id) < std::tie(b.ts_ns, b.id);
  }
};
struct ById {
  bool operator()(const PartRow& a, const PartRow& b) const { return a.id < b.id; }
};

template <typename Order>
using Parts = SortedRuns<PartRow, Order>;

template <typename Within, typename To>
Status Count(Parts<Before<Within>>& parts, int64_t PartRow::*number, To& to) {
  TRACEDB_TRY(parts.Finish());
  typename Parts<Before<Within>>::Reader reader(parts);
  std::optional<PartRow> last;
  for (; reader.row() != nullptr; reader.Next()) {
    PartRow row = *reader.row();
    const bool follows = last.has_value() && Within::Of(*last) == Within::Of(row);
    row.*number = follows ? (*last).*number + 1 : 1;
    last = row;
    TRACEDB_TRY(to.Add(row));
  }
  return reader.status();
}

Result<PartRow> PartOf(const CommunicationKernel& kernel, CollectiveFacts& facts) {
  const auto flag = [](const std::optional<int64_t>& value, int64_t bit) {
    return value.has_value() ? bit : 0;
  };
  TRACEDB_ASSIGN(told, facts.ToldBy(kernel));
  TRACEDB_ASSIGN(fact, facts.Of(told.args_text));
  PartRow part{};
  part.args_text = told.args_text;
  part.id = kernel.id;
  part.ts_ns = kernel.ts_ns;
  part.dur_ns = kernel.dur_ns.value_or(0);
  part.step = kernel.step.value_or(0);
  part.launch_ns = kernel.launch_ns.value_or(0);
  part.flags = flag(kernel.dur_ns, kHasDur) | flag(told.seq, kHasSeq) |
               flag(kernel.step, kHasStep) | flag(kernel.launch_ns, kHasLaunch);
  part.group = fact->group;
  part.pair = part.group != 0 ? fact->pair : 0;
  part.seq = told.seq.value_or(0);
  return part;
}

// A Seq tells which parts belong together, but for the pairs of a group of more than two: each pair
// is counted by itself, and so is what is left of the group. Of several parts with one Seq the
// second is matched with the second.
void Encode(const PartRow& part, const CollectiveFact& fact, const CollectivesPlace& place,
            RecordEncoder& record) {
  const auto add = [&](bool known, int64_t value) { known ? record.Int(value) : record.Null(); };
  const std::optional<bool> by_seq = !part.has(kHasSeq) ? false
                                     : part.pair == 0   ? true
                                                        : fact.of_two;
  const bool matched_by_seq = by_seq.value_or(false);
  std::string pair = part.pair != 0 ? fact.pair_text : "";
  if (matched_by_seq && part.of_seq > 1) pair += "#" + std::to_string(part.of_seq);
  record.Reset();
  record.Null();
  record.Int(place.rank);
  record.Int(place.trace_id);
  record.Int(place.trace_id);
  add(part.group != 0, part.group);
  add(part.group != 0, part.of_group);
  add(part.has(kHasSeq), part.seq);
  fact.collective.AddTo(record);
  fact.dtype.AddTo(record);
  fact.in_bytes.AddTo(record);
  fact.out_bytes.AddTo(record);
  record.Int(part.ts_ns);
  add(part.has(kHasDur), part.dur_ns);
  fact.peer.AddTo(record);
  add(part.has(kHasStep), part.step);
  add(part.has(kHasLaunch), part.launch_ns);
  record.Text(pair);
  add(by_seq.has_value(), matched_by_seq ? 1 : 0);
  record.Int(matched_by_seq ? part.seq : fact.match_no.value_or(part.of_pair));
}

}  // namespace

Status DeriveCollectives(const CommunicationKernels& kernels, CollectiveFacts& facts,
                         const CollectivesPlace& place, RowStore& rows, size_t table) {
  const SortBudget budget(place.sort_bytes_max);
  const auto space = [&] { return budget.Space(place.folder); };
  const auto limits = budget.Limits<PartRow>();
  std::optional<Parts<Before<InGroup>>> by_group(std::in_place, space(), limits);
  Status added = Done{};
  TRACEDB_TRY(kernels.ForEach([&](const CommunicationKernel& kernel) {
    if (!added.ok()) return;
    const Result<PartRow> part = PartOf(kernel, facts);
    added = part.ok() ? by_group->Add(part.value()) : Status(part.error());
  }));
  TRACEDB_TRY(added);
  std::optional<Parts<Before<InPair>>> by_pair(std::in_place, space(), limits);
  TRACEDB_TRY(Count(*by_group, &PartRow::of_group, *by_pair));
  by_group.reset();
  std::optional<Parts<Before<InSeq>>> by_seq(std::in_place, space(), limits);
  TRACEDB_TRY(Count(*by_pair, &PartRow::of_pair, *by_seq));
  by_pair.reset();
  Parts<ById> by_id(space(), limits);
  TRACEDB_TRY(Count(*by_seq, &PartRow::of_seq, by_id));
  by_seq.reset();
  TRACEDB_TRY(by_id.Finish());
  RecordEncoder record;
  Parts<ById>::Reader reader(by_id);
  for (; reader.row() != nullptr; reader.Next()) {
    TRACEDB_ASSIGN(fact, facts.Of(reader.row()->args_text));
    Encode(*reader.row(), *fact, place, record);
    TRACEDB_TRY(rows.Append(table, reader.row()->id, record.Finish()));
  }
  return reader.status();
}

}  // namespace tracedb
