// Changes of a job, as JSON, become other weights of its graph.
//
// An array of objects; each names what it changes, and `factor` by how much (0 where it is not
// said: it takes no time):
//   {"name": "x"} or {"like": "%gemm%"} or {"glob": "*gemm*"}, and with it or alone any of
//     "rank": 5, "step": 3, "kind": "compute" (communication, memory, host):
//     GPU activities, and slices of the host (with a name alone)
//   {"slice": 17, "shorten_ns": 5000}  one slice, of the host or a GPU, is so much shorter
//   {"short_host": 0.5}     work of the host between two launches that are less than 0.25 ms apart
//   {"recorder": 0}         what the profiler held threads up for
//   {"held_by": "x"}        the host in slices of this name, between two that are further apart
//   {"rank_late": 5}        what takes longer on this rank than on others does not make it late;
//                           all such ranks of the array are looked at together, where the first is
//   {"untold": "stays"}     of what rank_late takes from a job of which there are summaries alone:
//                           what these do not tell stays as it is, so that at least so much is
//                           gained. "goes": takes no time, so that no more is. Else it is an error
//   {"transfers": "data"}   of collectives of groups of this parallelism; "all": of all. With
//                           "caller": only those that a framework calls so
//                           (collective_callers); "-": that nobody is known to call. With
//                           "pair": "2>3" only messages from rank 2 to rank 3
//   {"waits": "pipeline"}   nobody waits for anybody in such collectives; "sync": no call of the
//                           host waits for the GPU
//   {"launch_latency_ns": 0}  at most
//   {"balance": "ranks"}    the compute kernels of a step take as long on every rank: the mean;
//                           "stages": on every stage of the pipeline, by the mean of its ranks
//   {"ideal": "all"}       each takes what its like takes on other ranks and in other steps;
//                           compute, communication, memory, host: only these; with a step also, and
//                           with "except_rank": 5 in place of a rank: on all others
// With a "rank" also short_host, recorder, held_by, transfers and waits are those of that rank
// alone.
#pragma once

#include <string_view>
#include <vector>

#include "replay/changes/change_reader.h"
#include "replay/changes/host_work.h"
#include "replay/changes/ideal_weights.h"
#include "replay/changes/late_work.h"
#include "replay/changes/own_work.h"
#include "replay/graph/host_owners.h"
#include "replay/graph/replay_graph.h"
#include "tracedb/base/result.h"
#include "tracedb/base/sqlite_db.h"

namespace tracedb {

// What is alike in a graph: found when it is first asked for, and kept.
struct PeersOfGraph {
  explicit PeersOfGraph(const ReplayGraph& graph)
      : ideal(graph), host_work(graph), gpu_work(graph.rows()) {}
  IdealWeights ideal;
  HostWork host_work;
  GpuWork gpu_work;
  OwnTimes own;
};

// Sets `weights`, whose memory is used again, to those of the graph's edges with these changes;
// kUsage where one is not understood.
Status ChangeWeights(SqliteDb& db, const ReplayGraph& graph, PeersOfGraph& peers,
                     HostOwners& owners, const std::vector<Change>& changes, EdgeTimes& weights);

}  // namespace tracedb
