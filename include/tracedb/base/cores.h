// How many cores this process may use: a container, a cgroup or taskset may leave it fewer than the
// machine has, and threads and memory for all of them would be in its way.
#pragma once

#include <optional>
#include <string_view>

namespace tracedb {

// At least 1. Of the machine's cores those that the scheduler may give us, and no more than what
// the limit on CPU time of our cgroup comes to. Asked for once.
unsigned CoresToUse();

// What a cgroup's cpu.max allows, in whole cores, rounded up; nothing where it has no limit, or is
// none: "200000 100000" is 2.
std::optional<unsigned> CoresOfQuota(std::string_view cpu_max);

}  // namespace tracedb
