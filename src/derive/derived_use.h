// The parts of DerivedUse: sums by stream, device and step, and what the host called.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "derive/busy/busy_use.h"
#include "derive/derive_host.h"
#include "derive/step_uses.h"
#include "tracedb/derive/derive_trace.h"

namespace tracedb {

struct DerivedUse::Parts {
  struct Stream {
    size_t device;  // in `devices`
    std::string stream;
    StreamUse use;
  };
  struct Device {
    std::string device;
    DeviceUse use;
  };
  std::vector<Stream> streams;
  std::vector<Device> devices;
  std::optional<StepUses> steps;  // by place in `devices`
  bool has_parts = false;         // in collectives, whose index is empty
  bool as_pages = false;  // busy_segment and the indexes are filled, and the above is complete
  std::unique_ptr<HostDerivation> host;  // complete, and not stored yet
};

}  // namespace tracedb
