#include "serve/result_cache.h"

namespace tracedb {

// The key is there twice; the rest is what lists and maps need, and headers.
size_t ResultCache::BytesOf(const Entry& entry) {
  return 2 * entry.first.size() + entry.second->body.size() + 1024;
}

std::shared_ptr<const WebAnswer> ResultCache::Find(const std::string& key) {
  std::lock_guard lock(mutex_);
  const auto place = places_.find(key);
  if (place == places_.end()) return nullptr;
  entries_.splice(entries_.begin(), entries_, place->second);
  return place->second->second;
}

void ResultCache::Keep(const std::string& key, WebAnswer answer) {
  Entry entry(key, std::make_shared<const WebAnswer>(std::move(answer)));
  const size_t bytes = BytesOf(entry);
  if (bytes > bytes_max_) return;
  std::lock_guard lock(mutex_);
  if (places_.contains(key)) return;
  entries_.push_front(std::move(entry));
  places_.emplace(key, entries_.begin());
  bytes_ += bytes;
  while (bytes_ > bytes_max_) {
    bytes_ -= BytesOf(entries_.back());
    places_.erase(entries_.back().first);
    entries_.pop_back();
  }
}

}  // namespace tracedb
