// What sentences of a verdict have in common.
#pragma once

#include <cstdint>
#include <string>

#include "report/report_gains.h"

namespace tracedb {

// What gains less of its step is not worth the first sentence.
constexpr double kGainPctMin = 2;

constexpr const char* kNoGpuActivity =
    "No GPU activity was recorded: where the GPUs' time went cannot be told.";

// "29.6 ms", "793.6 us"
std::string ShownMs(double ms);

// "Step 3", "Step 3 of capture 2"
std::string StepName(const StepKey& key);

// "The GPU waits" -> "the GPU waits"; "NCCL is slow" stays.
std::string WithinSentence(std::string text);

// A sentence, where ranks of the job were not recorded; else empty.
std::string MissingRanks(int64_t ranks, int64_t world_size);

}  // namespace tracedb
