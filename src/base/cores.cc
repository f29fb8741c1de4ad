#include "tracedb/base/cores.h"

#include <sched.h>

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <fstream>
#include <limits>
#include <string>
#include <system_error>
#include <thread>

namespace tracedb {
namespace {

unsigned CoresOfScheduler() {
  cpu_set_t set;
  CPU_ZERO(&set);
  // More cores than the set has room for: an error.
  const bool known = sched_getaffinity(0, sizeof set, &set) == 0 && CPU_COUNT(&set) > 0;
  return known ? static_cast<unsigned>(CPU_COUNT(&set)) : std::thread::hardware_concurrency();
}

// Of our own cgroup and those above it, as far as they are seen from here.
unsigned CoresOfCgroups() {
  unsigned cores = std::numeric_limits<unsigned>::max();
  std::ifstream own("/proc/self/cgroup");
  std::string line;
  while (std::getline(own, line)) {
    constexpr std::string_view kUnified = "0::";  // of cgroups' second version
    if (!line.starts_with(kUnified)) continue;
    std::string path = line.substr(kUnified.size());
    for (;;) {
      while (path.ends_with('/')) path.pop_back();
      std::ifstream file("/sys/fs/cgroup" + path + "/cpu.max");
      std::string limit;
      if (std::getline(file, limit)) cores = std::min(cores, CoresOfQuota(limit).value_or(cores));
      const size_t slash = path.rfind('/');
      if (path.empty() || slash == std::string::npos) return cores;
      path.resize(slash);
    }
  }
  return cores;
}

}  // namespace

std::optional<unsigned> CoresOfQuota(std::string_view cpu_max) {
  int64_t quota_us = 0;
  int64_t period_us = 0;
  const char* const end = cpu_max.data() + cpu_max.size();
  const auto [after, bad] = std::from_chars(cpu_max.data(), end, quota_us);
  if (bad != std::errc() || after == end || *after != ' ') return std::nullopt;
  if (std::from_chars(after + 1, end, period_us).ec != std::errc()) return std::nullopt;
  if (quota_us <= 0 || period_us <= 0) return std::nullopt;
  const int64_t cores = quota_us / period_us + (quota_us % period_us != 0 ? 1 : 0);
  constexpr int64_t kMost = std::numeric_limits<int>::max();
  return static_cast<unsigned>(std::min(cores, kMost));
}

unsigned CoresToUse() {
  static const unsigned cores = std::max(1u, std::min(CoresOfScheduler(), CoresOfCgroups()));
  return cores;
}

}  // namespace tracedb
