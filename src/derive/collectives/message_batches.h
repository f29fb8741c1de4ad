// Sends and receives between batch calls (batch_isend_irecv) launch nothing: their one kernel is
// launched in the annotation nccl:coalesced that comes after them on their thread. A message alone
// has an annotation as well (nccl:send 0->1), within its operator.
//
// A batch is a fact of its own, with a number below 0. Both ranks number their messages to and from
// each other, and what they gave in one kernel is alike if it has the same messages: the first one
// is the match_no, and `pair` says the rest: '0>1*', '0>1*x2' two of them, '0<>1*' one each way,
// '0<>1*x1,2' one and two, '0<>1*+3' where the first one back has a number greater by 3. So a
// batch with several ranks, which belongs to no pair and is told without its group, or one that the
// other rank has given otherwise, does not shift those that come after it.
#pragma once

#include <cstdint>
#include <string>

namespace tracedb {

// Makes temp.message_batch (fact, start_ns, end_ns and what it is of) and temp.message_kernel (the
// names of kernels that may be one), and adds the facts to temp.collective_fact.
std::string MessageBatchesSql(int64_t rank);

}  // namespace tracedb
