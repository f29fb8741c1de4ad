// Small answers, kept until there are too many. The key says all that an answer depends on, the
// database's version included, so nothing is ever taken out for being old.
#pragma once

#include <cstddef>
#include <list>
#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>
#include <utility>

#include "serve/http/web_message.h"

namespace tracedb {

class ResultCache {
 public:
  explicit ResultCache(size_t bytes_max) : bytes_max_(bytes_max) {}

  // The answer, which must have no stream; nullptr when it is not kept.
  std::shared_ptr<const WebAnswer> Find(const std::string& key);
  // Keeps the answer, and lets those go that were not asked for the longest.
  void Keep(const std::string& key, WebAnswer answer);
  size_t bytes() const { return bytes_; }

 private:
  using Entry = std::pair<std::string, std::shared_ptr<const WebAnswer>>;
  static size_t BytesOf(const Entry& entry);

  const size_t bytes_max_;
  std::mutex mutex_;
  std::list<Entry> entries_;  // the last one asked for in front
  std::unordered_map<std::string, std::list<Entry>::iterator> places_;
  size_t bytes_ = 0;
};

}  // namespace tracedb
