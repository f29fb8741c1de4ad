#include "tracedb/derive/gathered/host_slices.h"

namespace tracedb {
namespace {

// Two kinds share a table of rows; which it is goes to the event name's last bit.
int64_t Marked(int64_t event_name, bool mark) { return event_name * 2 + (mark ? 1 : 0); }

// Absent values: their own neighbour in most traces is one more than the last, so 0 costs no more
// than any other; a bit of `flags` says which are there.
constexpr int64_t kHasExternalId = 1;
constexpr int64_t kHasOther = 2;  // the correlation, or the sequence number
constexpr int64_t kWaits = 4;
constexpr int kFlagBits = 3;
constexpr int kGraphCallBits = 3;
constexpr int kNameAt = kFlagBits + kGraphCallBits;

int64_t Flags(bool has_external_id, bool has_other) {
  return (has_external_id ? kHasExternalId : 0) | (has_other ? kHasOther : 0);
}

template <typename Row>
void ReadCommon(const Row& row, HostSlice& slice) {
  slice = {};
  slice.ts = row.ts;
  slice.dur = row.dur;
  slice.id = row.id;
  slice.track = row.track;
}

}  // namespace

Status HostSlices::Add(const HostSlice& slice) {
  ++count_;
  switch (slice.kind) {
    case HostKind::kOperator:
    case HostKind::kAnnotation: {
      const int64_t flags = Flags(slice.has_external_id, slice.has_sequence);
      return operators_.Add(
          {slice.ts, slice.dur, slice.id, slice.track,
           Marked(slice.event_name, slice.kind == HostKind::kAnnotation), slice.args_text,
           slice.external_id, slice.sequence,
           static_cast<int64_t>(static_cast<uint64_t>(slice.forward_thread) << 2) | flags});
    }
    case HostKind::kFunction:
    case HostKind::kModule:
      return functions_.Add({slice.ts, slice.dur, slice.id, slice.track,
                             Marked(slice.event_name, slice.kind == HostKind::kModule)});
    case HostKind::kCall:
      break;
  }
  const int64_t flags = Flags(slice.has_external_id, slice.has_correlation) |
                        (slice.waits ? kWaits : 0) |
                        static_cast<int64_t>(slice.graph_call) << kFlagBits;
  return calls_.Add({slice.ts, slice.dur, slice.id, slice.track,
                     slice.event_name << kNameAt | flags, slice.correlation, slice.external_id});
}

Status HostSlices::Finish() {
  TRACEDB_TRY(operators_.Finish());
  TRACEDB_TRY(functions_.Finish());
  return calls_.Finish();
}

bool HostSlices::Reader::Next(HostSlice& slice) {
  const auto* op = operators_.row();
  const auto* function = functions_.row();
  const auto* call = calls_.row();
  if (op != nullptr && (function == nullptr || ComesBefore(*op, *function)) &&
      (call == nullptr || ComesBefore(*op, *call))) {
    ReadCommon(*op, slice);
    slice.event_name = op->marked_name >> 1;
    slice.kind = (op->marked_name & 1) != 0 ? HostKind::kAnnotation : HostKind::kOperator;
    slice.args_text = op->args_text;
    slice.has_external_id = (op->thread_and_flags & kHasExternalId) != 0;
    slice.external_id = op->external_id;
    slice.has_sequence = (op->thread_and_flags & kHasOther) != 0;
    slice.sequence = op->sequence;
    slice.forward_thread = op->thread_and_flags >> 2;
    operators_.Next();
    return true;
  }
  if (function != nullptr && (call == nullptr || ComesBefore(*function, *call))) {
    ReadCommon(*function, slice);
    slice.event_name = function->marked_name >> 1;
    slice.kind = (function->marked_name & 1) != 0 ? HostKind::kModule : HostKind::kFunction;
    functions_.Next();
    return true;
  }
  if (call == nullptr) return false;
  ReadCommon(*call, slice);
  slice.event_name = call->name_and_flags >> kNameAt;
  slice.graph_call =
      static_cast<GraphCall>(call->name_and_flags >> kFlagBits & ((1 << kGraphCallBits) - 1));
  slice.waits = (call->name_and_flags & kWaits) != 0;
  slice.kind = HostKind::kCall;
  slice.has_correlation = (call->name_and_flags & kHasOther) != 0;
  slice.correlation = call->correlation;
  slice.has_external_id = (call->name_and_flags & kHasExternalId) != 0;
  slice.external_id = call->external_id;
  calls_.Next();
  return true;
}

Status HostSlices::Reader::status() const {
  TRACEDB_TRY(operators_.status());
  TRACEDB_TRY(functions_.status());
  return calls_.status();
}

}  // namespace tracedb
