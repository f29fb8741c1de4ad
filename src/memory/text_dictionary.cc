#include "tracedb/memory/text_dictionary.h"

#include <utility>

#define XXH_INLINE_ALL
#include <xxhash.h>

namespace tracedb {
namespace {
constexpr size_t kChunkBytes = 32 * 1024;
constexpr size_t kBucketsAtFirst = 1024;
}  // namespace

uint64_t HashText(std::string_view text) { return XXH3_64bits(text.data(), text.size()); }

std::optional<uint32_t> TextDictionary::Find(std::string_view text) const {
  const uint64_t hash = HashText(text);
  for (size_t at = hash & mask_;; at = (at + 1) & mask_) {
    const Bucket& bucket = buckets_[at];
    if (bucket.entry == 0) return std::nullopt;
    if (bucket.hash_high == static_cast<uint32_t>(hash >> 32) && Text(bucket.entry - 1) == text) {
      return bucket.entry - 1;
    }
  }
}

TextDictionary::Found TextDictionary::Insert(std::string_view text, uint64_t hash, size_t at) {
  const auto id = static_cast<uint32_t>(entries_.size());
  entries_.push_back({Store(text), text.size()});
  hashes_.push_back(hash);
  buckets_[at] = {static_cast<uint32_t>(hash >> 32), id + 1};
  bytes_ += text.size() + sizeof(Entry) + sizeof(uint64_t) + 2 * sizeof(Bucket);
  if (entries_.size() * 2 > buckets_.size()) Grow();
  return {id, true};
}

const char* TextDictionary::Store(std::string_view text) {
  if (text.size() > chunk_left_) {
    const size_t size = text.size() > kChunkBytes / 4 ? text.size() : kChunkBytes;
    chunks_.push_back(std::make_unique_for_overwrite<char[]>(size));
    if (size != kChunkBytes) {  // a text of its own; the current chunk stays in use
      std::memcpy(chunks_.back().get(), text.data(), text.size());
      return chunks_.back().get();
    }
    chunk_at_ = chunks_.back().get();
    chunk_left_ = size;
  }
  char* const stored = chunk_at_;
  if (!text.empty()) std::memcpy(stored, text.data(), text.size());
  chunk_at_ += text.size();
  chunk_left_ -= text.size();
  return stored;
}

void TextDictionary::Grow() {
  std::vector<Bucket> larger(buckets_.size() * 2);
  mask_ = larger.size() - 1;
  for (size_t id = 0; id < hashes_.size(); ++id) {
    size_t at = hashes_[id] & mask_;
    while (larger[at].entry != 0) at = (at + 1) & mask_;
    larger[at] = {static_cast<uint32_t>(hashes_[id] >> 32), static_cast<uint32_t>(id + 1)};
  }
  buckets_ = std::move(larger);
}

void TextDictionary::Clear() {
  buckets_.assign(kBucketsAtFirst, {});
  buckets_.shrink_to_fit();
  mask_ = kBucketsAtFirst - 1;
  entries_.clear();
  hashes_.clear();
  chunks_.clear();
  chunk_at_ = nullptr;
  chunk_left_ = 0;
  bytes_ = 0;
}

}  // namespace tracedb
