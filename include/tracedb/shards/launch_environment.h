// Who this process is among those that srun, torchrun or mpirun have started: by the variables that
// they set.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

namespace tracedb {

struct LaunchEnvironment {
  std::optional<int64_t> task;        // of the job, from 0: where each GPU has one, its rank
  std::optional<int64_t> tasks;       // how many there are
  std::optional<int64_t> node_tasks;  // on this node
  std::string variable;               // that says `task`; empty: none does
};

// `variable` gives a variable's value, null where it is not set: getenv.
LaunchEnvironment ReadLaunchEnvironment(const std::function<const char*(const char*)>& variable);

}  // namespace tracedb
