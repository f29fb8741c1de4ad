#include "sources/values/source_bytes.h"

#include <algorithm>

namespace tracedb {

Status SourceBytes::Refill() {
  before_ += end_;
  at_ = end_ = 0;
  TRACEDB_ASSIGN(got, text_.Read(buffer_));
  end_ = got;
  return Done{};
}

Status SourceBytes::Take(size_t count, std::string& bytes) {
  bytes.clear();
  while (bytes.size() < count) {
    if (at_ == end_) TRACEDB_TRY(Refill());
    if (at_ == end_) return Done{};
    const size_t part = std::min(count - bytes.size(), end_ - at_);
    bytes.append(buffer_.data() + at_, part);
    at_ += part;
  }
  return Done{};
}

}  // namespace tracedb
