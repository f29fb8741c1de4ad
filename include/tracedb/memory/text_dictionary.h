// Texts to small numbers, counted from 0 in order of first appearance. Bounded: once bytes()
// reaches the limit that its owner has set itself, the owner clears it or goes without.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <optional>
#include <string_view>
#include <vector>

namespace tracedb {

uint64_t HashText(std::string_view text);

class TextDictionary {
 public:
  struct Found {
    uint32_t id;
    bool is_new;
  };

  TextDictionary() { Clear(); }

  // The number of `text`, a new one when it was not there.
  Found Intern(std::string_view text) {
    const uint64_t hash = HashText(text);
    for (size_t at = hash & mask_;; at = (at + 1) & mask_) {
      const Bucket& bucket = buckets_[at];
      if (bucket.entry == 0) return Insert(text, hash, at);
      if (bucket.hash_high == static_cast<uint32_t>(hash >> 32) && Text(bucket.entry - 1) == text) {
        return {bucket.entry - 1, false};
      }
    }
  }

  // The number of `text` if it is there.
  std::optional<uint32_t> Find(std::string_view text) const;

  std::string_view Text(uint32_t id) const {
    const Entry& entry = entries_[id];
    return {entry.data, entry.size};
  }
  size_t size() const { return entries_.size(); }
  size_t bytes() const { return bytes_; }
  void Clear();

 private:
  struct Entry {
    const char* data;
    size_t size;
  };
  struct Bucket {
    uint32_t hash_high = 0;
    uint32_t entry = 0;  // number + 1; 0 is empty
  };

  Found Insert(std::string_view text, uint64_t hash, size_t at);
  const char* Store(std::string_view text);
  void Grow();

  std::vector<Bucket> buckets_;
  std::vector<Entry> entries_;
  std::vector<uint64_t> hashes_;
  std::vector<std::unique_ptr<char[]>> chunks_;
  char* chunk_at_ = nullptr;
  size_t chunk_left_ = 0;
  size_t mask_ = 0;
  size_t bytes_ = 0;
};

}  // namespace tracedb
