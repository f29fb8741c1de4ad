// What the args say of a collective: once for each text of args, as they are few.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>

#include "derive/collectives/communication_kernels.h"
#include "tracedb/base/result.h"
#include "tracedb/base/sqlite_db.h"
#include "tracedb/derive/gathered/gpu_activities.h"
#include "tracedb/pages/record_encoder.h"
#include "tracedb/schema/parallelism.h"

namespace tracedb {

// A value as it is stored.
struct FactValue {
  SqlType type = SqlType::kNull;
  int64_t integer = 0;
  double real = 0;
  std::string text;

  void AddTo(RecordEncoder& record) const;
};

struct CollectiveFact {
  int64_t group = 0;  // its communicator; 0: not known
  // What that is for; of a batch of messages with several ranks, which is told without its group,
  // what the group of all of them is for.
  Parallelism parallelism = Parallelism::kOther;
  int64_t pair = 0;  // a number of `pair_text`; 0: no message from one rank to another
  std::string pair_text;
  std::optional<bool> of_two;       // ranks the group has; none: not known
  std::optional<int64_t> match_no;  // of a batch of messages, in place of a count
  FactValue collective, dtype, in_bytes, out_bytes, peer;
};

// What an operator that a coalesced kernel was launched in says of it.
struct CoalescedOp {
  int64_t args_text = 0;
  std::optional<int64_t> seq;
};

// Not thread safe.
class CollectiveFacts {
 public:
  // For a database that holds one trace of `rank`, after DeriveGroups(). Puts all that may be asked
  // for of its activities into temporary tables: pages may be written to the database after that.
  static Result<CollectiveFacts> Read(SqliteDb& db, int64_t rank, const GpuActivities& activities);

  // Valid until the next call.
  Result<const CollectiveFact*> Of(int64_t args_text);
  // Whose args Of() is to be asked of for this kernel: its own, else those of what launched it.
  Result<CoalescedOp> ToldBy(const CommunicationKernel& kernel);

 private:
  CollectiveFacts(int64_t rank, SqliteStatement fact) : rank_(rank), fact_(std::move(fact)) {}

  // For kernels that have no group by their own args, but an External id.
  Status ReadOperators(SqliteDb& db);
  // For all that have no group by their own args.
  Status ReadBatches(SqliteDb& db);
  // A coalesced kernel has no args of a collective, but the operator has that it was launched in:
  // its External id says which. None before ReadOperators().
  Result<std::optional<CoalescedOp>> OpOf(int64_t external_id);
  // What Of() is to be asked of a kernel of messages that has neither, but was launched at a moment
  // in which one thread was in a batch of them. None before ReadBatches().
  Result<std::optional<int64_t>> BatchAt(int64_t launch_ns, int64_t event_name);

  int64_t rank_;
  SqliteStatement fact_;
  std::optional<SqliteStatement> op_;     // once ReadOperators() was called
  std::optional<SqliteStatement> batch_;  // once ReadBatches() was
  std::unordered_map<int64_t, CollectiveFact> known_;
  size_t text_bytes_ = 0;  // of known_
};

}  // namespace tracedb
