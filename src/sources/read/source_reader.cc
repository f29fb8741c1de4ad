#include "tracedb/sources/read/source_reader.h"

#include <algorithm>
#include <cassert>

namespace tracedb {

void SourceIssues::Add(std::string_view kind, uint64_t offset, std::string_view excerpt,
                       uint64_t count) {
  auto at = entries_.find(kind);
  if (at == entries_.end()) {
    assert(entries_.size() < kKindsMax);
    Entry first{0, offset, std::string(excerpt.substr(0, kExcerptBytes))};
    for (char& c : first.first_excerpt) {
      if (static_cast<unsigned char>(c) < ' ' || static_cast<unsigned char>(c) >= 0x7f) c = '?';
    }
    at = entries_.emplace(std::string(kind), std::move(first)).first;
  }
  at->second.count += count;
}

void SourceRows::SawTime(int64_t at_ns) {
  start_ns = std::min(start_ns.value_or(at_ns), at_ns);
  end_ns = std::max(end_ns.value_or(at_ns), at_ns);
}

}  // namespace tracedb
