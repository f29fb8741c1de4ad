// A file's descriptor, closed when this goes.
#pragma once

#include <unistd.h>

namespace tracedb {

struct Descriptor {
  explicit Descriptor(int opened) : number(opened) {}
  ~Descriptor() {
    if (number >= 0) close(number);
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;

  const int number;  // below 0: it could not be opened
};

}  // namespace tracedb
