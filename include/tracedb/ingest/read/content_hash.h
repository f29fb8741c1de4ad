// XXH3-128 of a stream of bytes, as 32 hexadecimal digits: tells whether a trace is in a database
// already. Not a protection against forgery.
#pragma once

#include <atomic>
#include <filesystem>
#include <memory>
#include <span>
#include <string>

#include "tracedb/base/result.h"

struct XXH3_state_s;

namespace tracedb {

class ContentHash {
 public:
  ContentHash();
  void Add(std::span<const char> bytes);
  std::string Digits() const;

 private:
  struct Free {
    void operator()(XXH3_state_s* state) const;
  };
  std::unique_ptr<XXH3_state_s, Free> state_;
};

// Of a whole file, however long it is: an error of kInput once `stop` is true.
Result<std::string> HashFile(const std::filesystem::path& path,
                             const std::atomic<bool>* stop = nullptr);

}  // namespace tracedb
