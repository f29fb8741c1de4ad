// Names that many rows of a source share, by number. Those seen last are kept in memory; a name
// that was dropped from there gets another number, and is stored again.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>

namespace tracedb {

class SourceNames {
 public:
  static constexpr size_t kBytesMax = size_t{4} << 20;

  struct Number {
    int64_t id;
    bool is_new;  // the caller stores it
  };
  Number Of(std::string_view name) {
    const auto found = ids_.find(std::string(name));
    if (found != ids_.end()) return {found->second, false};
    constexpr size_t kBytesEach = 96;  // of the table
    if (bytes_ + name.size() + kBytesEach > kBytesMax) {
      ids_.clear();
      bytes_ = 0;
    }
    bytes_ += name.size() + kBytesEach;
    ids_.emplace(name, next_);
    return {next_++, true};
  }

 private:
  std::unordered_map<std::string, int64_t> ids_;
  size_t bytes_ = 0;
  int64_t next_ = 1;
};

}  // namespace tracedb
