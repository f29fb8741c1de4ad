// The parts of a rank in collectives: fills _collective_part.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>

#include "derive/collectives/collective_facts.h"
#include "derive/collectives/communication_kernels.h"
#include "tracedb/base/result.h"
#include "tracedb/pages/row_store.h"

namespace tracedb {

struct CollectivesPlace {
  int64_t trace_id = 0;  // the trace is a capture of its own
  int64_t rank = 0;
  std::filesystem::path folder;  // for what does not fit in memory
  size_t sort_bytes_max = 0;     // of each sort, of which two are in use at a time
};

// Writes to the table that `rows` has under `table`, in the order of the kernels' ids. The index of
// the table is left empty.
Status DeriveCollectives(const CommunicationKernels& kernels, CollectiveFacts& facts,
                         const CollectivesPlace& place, RowStore& rows, size_t table);

}  // namespace tracedb
