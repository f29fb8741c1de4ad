// The slowdown of a job that is given as operations (slowdown_oracle.py has them), by the replay
// of the program.
//
//     slowdown_replay < OPERATIONS     prints T, T ideal and S, then S by type, dp, stage and rank
//
// One operation a line, after all that it depends on, those of a group one after the other:
// step dp stage rank type name group start_ns end_ns is_communication ends_step count before...
// `type` is what it is compared by, `name` what S is told by; group -1: of none; `before` are
// numbers of lines, from 0.
#include <algorithm>
#include <cstdint>
#include <functional>
#include <iomanip>
#include <iostream>
#include <map>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "replay/graph/replay_graph.h"
#include "replay/peers/peer_times.h"

namespace tracedb {
namespace {

constexpr int64_t kClocksAgreeNs = 10'000'000;

struct Operation {
  int64_t step = 0, dp = 0, stage = 0, rank = 0, group = -1, start_ns = 0, end_ns = 0;
  std::string type, name;
  bool is_communication = false, ends_step = false;
  std::vector<uint32_t> before;
  int64_t taken_ns = 0, ideal_ns = 0;
  uint32_t edge = 0, finish = 0;
};

bool Read(std::istream& in, std::vector<Operation>& operations) {
  for (std::string line; std::getline(in, line);) {
    std::istringstream fields(line);
    Operation read;
    size_t count = 0;
    fields >> read.step >> read.dp >> read.stage >> read.rank >> read.type >> read.name >>
        read.group >> read.start_ns >> read.end_ns >> read.is_communication >> read.ends_step >>
        count;
    if (!fields || count > operations.size()) return false;
    for (uint32_t before = 0; read.before.size() < count; read.before.push_back(before)) {
      if (!(fields >> before) || before >= operations.size()) return false;
    }
    operations.push_back(std::move(read));
  }
  return !operations.empty();
}

class Job {
 public:
  explicit Job(std::vector<Operation> operations)
      : operations_(std::move(operations)), graph_(Graph()) {
    std::map<std::string, std::vector<int64_t>> taken;
    for (const Operation& o : operations_) taken[o.type].push_back(o.taken_ns);
    std::map<std::string, int64_t> ideal;
    for (Operation& o : operations_) {
      const auto [place, is_new] = ideal.emplace(o.type, 0);
      if (is_new) {
        place->second = o.is_communication ? MedianNs(taken[o.type]) : MeanNs(taken[o.type]);
      }
      o.ideal_ns = place->second;
    }
  }

  using Chosen = std::function<bool(const Operation&)>;

  // The mean step with these operations as they were, and the others ideal.
  double MeanStepS(const Chosen& as_it_was) const {
    EdgeTimes weights = graph_.weights();
    for (const Operation& o : operations_) {
      weights.Set(o.edge, as_it_was(o) ? o.taken_ns : o.ideal_ns);
    }
    const std::vector<int64_t> times = graph_.Replay(weights);
    std::map<int64_t, int64_t> ends;
    for (const Operation& o : operations_) {
      if (o.ends_step) ends[o.step] = std::max(ends[o.step], times[o.finish]);
    }
    double sum_ns = 0;
    for (const auto& [step, end_ns] : ends) sum_ns += static_cast<double>(end_ns);
    return sum_ns / static_cast<double>(ends.size()) / 1e9;
  }

  template <typename Value>
  std::map<Value, double> SlowdownBy(Value Operation::*which) const {
    std::map<Value, double> found;
    for (const Operation& o : operations_) found[o.*which] = 0;
    const double ideal_s = MeanStepS([](const Operation&) { return false; });
    for (auto& [value, slowdown] : found) {
      const Value& own = value;
      slowdown = MeanStepS([&](const Operation& o) { return o.*which == own; }) / ideal_s;
    }
    return found;
  }

  const std::vector<Operation>& operations() const { return operations_; }

 private:
  // As MODEL.md has activities: a start after all that comes before, a meet when the last of a
  // group has started, a finish.
  ReplayGraph Graph() {
    for (size_t first = 0; first < operations_.size();) {
      size_t last = first + 1;
      const Operation& of = operations_[first];
      while (of.group >= 0 && last < operations_.size() && operations_[last].group == of.group &&
             operations_[last].step == of.step) {
        ++last;
      }
      AddGroup(first, last);
      first = last;
    }
    return ReplayGraph::Of(std::move(nodes_), std::move(from_), std::move(kinds_),
                           EdgeTimes(weights_));
  }

  void AddGroup(size_t first, size_t last) {
    std::vector<uint32_t> starts;
    int64_t meet_ns = operations_[first].start_ns;
    for (size_t i = first; i < last; ++i) {
      starts.push_back(AddNode(NodeKind::kStart));
      for (const uint32_t before : operations_[i].before) {
        AddEdge(operations_[before].finish, EdgeKind::kStream, 0);
      }
      meet_ns = std::max(meet_ns, operations_[i].start_ns);
    }
    const bool is_group = operations_[first].group >= 0;
    uint32_t begin = starts[0];
    if (is_group) {
      begin = AddNode(NodeKind::kMeet);
      for (const uint32_t start : starts) AddEdge(start, EdgeKind::kMeet, 0);
    }
    for (size_t i = first; i < last; ++i) {
      Operation& o = operations_[i];
      o.taken_ns = o.end_ns - meet_ns;
      if (is_group && o.taken_ns <= -kClocksAgreeNs) o.taken_ns = 0;
      o.finish = AddNode(NodeKind::kFinish);
      o.edge = static_cast<uint32_t>(from_.size());
      AddEdge(begin, is_group ? EdgeKind::kTransfer : EdgeKind::kRun, o.taken_ns);
    }
  }

  // Of a start with nothing before it: at 0.
  uint32_t AddNode(NodeKind kind) {
    const Node node{0, static_cast<uint32_t>(from_.size()), 0, kind};
    nodes_.push_back(node);
    return static_cast<uint32_t>(nodes_.size() - 1);
  }
  void AddEdge(uint32_t from, EdgeKind kind, int64_t weight_ns) {
    from_.push_back(from);
    kinds_.push_back(kind);
    weights_.push_back(weight_ns);
  }

  std::vector<Operation> operations_;
  std::vector<Node> nodes_;
  std::vector<uint32_t> from_;
  std::vector<EdgeKind> kinds_;
  std::vector<int64_t> weights_;
  ReplayGraph graph_;  // of all these
};

template <typename Value>
void Print(const std::string& what, const std::map<Value, double>& slowdowns) {
  for (const auto& [value, slowdown] : slowdowns) {
    std::cout << what << ' ' << value << ' ' << slowdown << '\n';
  }
}

void PrintAll(const Job& job) {
  std::cout << std::setprecision(12);
  const double taken_s = job.MeanStepS([](const Operation&) { return true; });
  const double ideal_s = job.MeanStepS([](const Operation&) { return false; });
  std::cout << "taken s " << taken_s << "\nideal s " << ideal_s << "\nslowdown S "
            << taken_s / ideal_s << '\n';
  const auto by_dp = job.SlowdownBy(&Operation::dp);
  const auto by_stage = job.SlowdownBy(&Operation::stage);
  std::map<int64_t, double> by_rank;
  for (const Operation& o : job.operations()) {
    by_rank[o.rank] = std::min(by_dp.at(o.dp), by_stage.at(o.stage));
  }
  Print("type", job.SlowdownBy(&Operation::name));
  Print("dp", by_dp);
  Print("stage", by_stage);
  Print("rank", by_rank);
}

}  // namespace
}  // namespace tracedb

int main() {
  std::vector<tracedb::Operation> operations;
  if (!tracedb::Read(std::cin, operations)) {
    std::cout << "an operation is not understood, or there is none\n";
    return 1;
  }
  tracedb::PrintAll(tracedb::Job(std::move(operations)));
  return std::cout.flush() ? 0 : 1;
}
