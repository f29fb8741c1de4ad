#include "tracedb/shards/launch_environment.h"

#include <charconv>
#include <string_view>

namespace tracedb {
namespace {

// Of one launcher. What starts processes within an allocation of Slurm knows better than Slurm
// which of them this is, so it comes first.
struct Launcher {
  const char* task;
  const char* tasks;
  const char* node_tasks;
};
constexpr Launcher kLaunchers[] = {
    {"RANK", "WORLD_SIZE", "LOCAL_WORLD_SIZE"},  // torchrun
    {"OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_LOCAL_SIZE"},
    {"PMIX_RANK", "PMIX_SIZE", "PMIX_LOCAL_SIZE"},
    {"PMI_RANK", "PMI_SIZE", "MPI_LOCALNRANKS"},
};

std::optional<int64_t> Number(const char* text) {
  if (text == nullptr) return std::nullopt;
  const std::string_view digits = text;
  constexpr int64_t kMost = int64_t{1} << 40;
  int64_t number = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), number);
  const bool is_number = error == std::errc() && end == digits.data() + digits.size();
  return is_number && number >= 0 && number <= kMost ? std::optional(number) : std::nullopt;
}

}  // namespace

LaunchEnvironment ReadLaunchEnvironment(const std::function<const char*(const char*)>& variable) {
  for (const Launcher& launcher : kLaunchers) {
    const std::optional<int64_t> task = Number(variable(launcher.task));
    if (!task.has_value()) continue;
    return {task, Number(variable(launcher.tasks)), Number(variable(launcher.node_tasks)),
            launcher.task};
  }
  const std::optional<int64_t> task = Number(variable("SLURM_PROCID"));
  if (!task.has_value()) return {};
  // Of this step where Slurm says it: the allocation may be larger.
  const auto either = [&](const char* step, const char* job) {
    const std::optional<int64_t> number = Number(variable(step));
    return number.has_value() ? number : Number(variable(job));
  };
  const std::optional<int64_t> tasks = either("SLURM_STEP_NUM_TASKS", "SLURM_NTASKS");
  const std::optional<int64_t> nodes = either("SLURM_STEP_NUM_NODES", "SLURM_NNODES");
  std::optional<int64_t> node_tasks = Number(variable("SLURM_NTASKS_PER_NODE"));
  if (tasks.has_value() && nodes.value_or(0) > 0) node_tasks = (*tasks + *nodes - 1) / *nodes;
  return {task, tasks, node_tasks, "SLURM_PROCID"};
}

}  // namespace tracedb
