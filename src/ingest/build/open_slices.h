// Begin events that wait for their end: B with E on a thread, b with e (and S with F) under an id.
//
// On one thread come B outer at 10, B inner at 12, E at 15, E at 20: the first E ends what began
// last, so inner is 3 long and outer 10. Under an id it is the same, of one name or not, whichever
// thread they are on. A B at 30 whose E never comes is given back at the end, without a duration.
// Bounded: what does not fit is given back at once.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "ingest/build/table_writer.h"
#include "tracedb/derive/gathered/host_slices.h"

namespace tracedb {

// Values of args columns that own their texts.
class KeptValues {
 public:
  void Keep(const ArgsValues& values);
  ArgsValues Values() const;  // its texts live as long as this
  size_t Bytes() const;

 private:
  std::vector<std::pair<ArgsColumn, int64_t>> ints_;
  std::vector<std::pair<ArgsColumn, std::string>> texts_;
};

// A begin event, kept whole.
struct OpenSlice {
  int64_t ts = 0;
  uint64_t offset = 0;
  int64_t track = 0;
  int64_t event_name = 0;
  EventTable table = EventTable::kCpuSlice;  // where its category puts it
  int64_t args_text = 0;
  uint32_t args_place = 0;  // the text's number in the builder's dictionary
  KeptValues values;
  char phase = 'B';
  HostCall host_call;
};

class OpenSlices {
 public:
  explicit OpenSlices(size_t bytes_max) : bytes_max_(bytes_max) {}

  // False when it does not fit: then it was not taken, and its end will not find it either.
  bool Open(uint64_t key, OpenSlice& slice);
  // The innermost open slice under `key`, with this name unless it is 0; nothing when there is
  // none. `refused` tells that it was one that did not fit.
  std::optional<OpenSlice> Close(uint64_t key, int64_t event_name, bool& refused);
  // Takes out one after the other, in no order; nothing when none is left.
  std::optional<OpenSlice> TakeAny();

 private:
  struct Stack {
    std::vector<OpenSlice> open;
    uint64_t refused = 0;  // on top of those: the innermost ones
  };
  static size_t BytesOf(const OpenSlice& slice);

  size_t bytes_max_;
  size_t bytes_ = 0;
  uint64_t refused_elsewhere_ = 0;  // under keys for which there was no room at all
  std::unordered_map<uint64_t, Stack> stacks_;
};

}  // namespace tracedb
