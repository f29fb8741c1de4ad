#include "ingest/read/unpack_ahead.h"

#include <pthread.h>

#include <algorithm>
#include <cstring>
#include <span>
#include <thread>
#include <utility>

#include "tracedb/base/bounded_queue.h"
#include "tracedb/base/run_caught.h"
#include "tracedb/base/uninitialized_bytes.h"
#include "tracedb/ingest/read/content_hash.h"

namespace tracedb {
namespace {

class UnpackAheadSource : public ByteSource {
 public:
  UnpackAheadSource(std::unique_ptr<ByteSource> source, size_t bytes_max, bool hash_beside)
      : source_(std::move(source)),
        packing_(source_->packing()),
        empty_(kBlocks),
        to_hash_(kBlocks),
        full_(kBlocks) {
    for (size_t i = 0; i < kBlocks; ++i) {
      static_cast<void>(empty_.Push({UninitializedBytes(bytes_max / kBlocks), 0, 0}));
    }
    if (hash_beside) {
      hash_.emplace();
      hasher_ = std::jthread([this] {
        pthread_setname_np(pthread_self(), "trace-hash");
        HashBlocks();
        full_.Close();
      });
    }
    thread_ = std::jthread([this] {
      pthread_setname_np(pthread_self(), "trace-unpack");
      done_ = RunCaught([this] { return FillBlocks(hash_.has_value() ? to_hash_ : full_); });
      (hash_.has_value() ? to_hash_ : full_).Close();
    });
  }
  ~UnpackAheadSource() override {
    empty_.Close();
    to_hash_.Close();
    full_.Close();
  }

  Result<size_t> Read(std::span<char> into) override {
    while (given_ == block_.used) {
      if (!block_.bytes.empty()) static_cast<void>(empty_.Push(std::move(block_)));
      auto next = full_.Pop();
      block_ = next.has_value() ? std::move(*next) : Block();
      given_ = 0;
      if (next.has_value()) continue;
      if (thread_.joinable()) thread_.join();
      if (hasher_.joinable()) hasher_.join();
      TRACEDB_TRY(done_);
      return size_t{0};
    }
    const size_t count = std::min(into.size(), block_.used - given_);
    std::memcpy(into.data(), block_.bytes.data() + given_, count);
    given_ += count;
    packed_bytes_ = block_.packed_bytes;
    return count;
  }

  // The source is the thread's until that has ended; whoever stops early learns nothing of it.
  const std::optional<ByteDamage>& damage() const override {
    return ended() ? source_->damage() : none_;
  }
  std::string file_hash() const override { return ended() ? source_->file_hash() : ""; }
  std::string text_hash() const override {
    return ended() && hash_.has_value() ? hash_->Digits() : "";
  }
  const EventIssues* issues() const override { return ended() ? source_->issues() : nullptr; }
  uint64_t packed_bytes() const override {
    return ended() ? source_->packed_bytes() : packed_bytes_;
  }
  BytePacking packing() const override { return packing_; }

 private:
  static constexpr size_t kBlocks = 6;
  struct Block {
    UninitializedBytes bytes;
    size_t used = 0;
    uint64_t packed_bytes = 0;  // taken from the file by then
  };

  bool ended() const { return !thread_.joinable(); }

  // A block a Read: what comes through a pipe is not waited for.
  Status FillBlocks(BoundedQueue<Block>& filled) {
    for (;;) {
      auto block = empty_.Pop();
      if (!block.has_value()) return Done{};
      TRACEDB_ASSIGN(count, source_->Read(block->bytes));
      if (count == 0) return Done{};
      block->used = count;
      block->packed_bytes = source_->packed_bytes();
      if (!filled.Push(std::move(*block))) return Done{};
    }
  }
  void HashBlocks() {
    while (auto block = to_hash_.Pop()) {
      hash_->Add(std::span(block->bytes).first(block->used));
      if (!full_.Push(std::move(*block))) return;
    }
  }

  const std::unique_ptr<ByteSource> source_;
  const BytePacking packing_;
  const std::optional<ByteDamage> none_;
  Block block_;  // the one that is being given
  size_t given_ = 0;
  uint64_t packed_bytes_ = 0;
  BoundedQueue<Block> empty_;
  BoundedQueue<Block> to_hash_;
  BoundedQueue<Block> full_;
  std::optional<ContentHash> hash_;  // where a thread makes it
  Status done_ = Done{};             // of the thread, once full_ is closed
  std::jthread hasher_;
  std::jthread thread_;
};

}  // namespace

std::unique_ptr<ByteSource> UnpackAhead(std::unique_ptr<ByteSource> source, size_t bytes_max,
                                        bool hash_beside) {
  return std::make_unique<UnpackAheadSource>(std::move(source), bytes_max, hash_beside);
}

}  // namespace tracedb
