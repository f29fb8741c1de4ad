// A member of a gzip file unpacked in pieces, side by side. Where a block of Deflate begins in the
// middle of a file is guessed by threads of their own, which decode from there (deflate_tokens.h);
// whether the guess was right is known when the piece before has been decoded. Then its tokens
// become text, here.
//
//   file ──▶ pieces ──▶ tokens of piece 1 ─┐
//                   ──▶ tokens of piece 2 ─┼─▶ text
//                   ──▶ tokens of piece 3 ─┘
//
// The last block, and whatever is odd, is left to a decoder of one stream, which goes on from
// there: damaged files are read, and spoken of, as if there were no pieces.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <semaphore>
#include <span>
#include <thread>
#include <vector>

#include "ingest/read/byte_inflater.h"
#include "ingest/read/deflate_tokens.h"
#include "ingest/read/token_text.h"
#include "tracedb/base/bounded_queue.h"
#include "tracedb/base/result.h"
#include "tracedb/base/uninitialized_bytes.h"
#include "tracedb/ingest/read/byte_source.h"

namespace tracedb {

// Not thread safe.
class GzipPieces {
 public:
  // More of the file; 0 at its end.
  using ReadMore = std::function<Result<size_t>(std::span<char>)>;

  // Null where this is no way for the file: its header is not in `first` as a whole, or has a
  // checksum; or the threads have too little room.
  static std::unique_ptr<GzipPieces> Begin(std::span<const char> first, ReadMore read,
                                           const UnpackThreads& threads);
  ~GzipPieces();

  // Text, or 0: the rest is for another decoder.
  Result<size_t> Read(std::span<char> into);

  // What the other begins with, once Read has returned 0: where, and what was read from there on.
  struct Rest {
    InflateStart start;
    UninitializedBytes data;
  };
  Rest TakeRest();

 private:
  static constexpr size_t kPieceBytes = size_t{256} << 10;
  static constexpr size_t kNextBytes = size_t{192} << 10;  // of the next one: where blocks end
  static constexpr size_t kMissesMin = 8;                  // wrong guesses, and one in four
  static constexpr int kGuessesMax = 16;  // of a piece: places that look like a block's begin

  struct Piece {
    explicit Piece(size_t token_bytes);
    uint64_t OwnBits() const { return own_bytes * 8; }
    std::span<const uint8_t> Data() const {
      return {reinterpret_cast<const uint8_t*>(bytes.data()), all_bytes};
    }

    UninitializedBytes bytes;  // its own, those of the next one's begin, and slack
    size_t own_bytes = 0;
    size_t all_bytes = 0;
    bool is_first = false;
    uint64_t first_bit = 0;  // of the first one: where its blocks begin
    DeflateTokens tokens;
    std::binary_semaphore is_decoded{0};
  };

  GzipPieces(std::span<const char> first, size_t header_bytes, ReadMore read,
             const UnpackThreads& threads);
  Status StartPieces();
  Result<bool> FillPiece(Piece& piece);
  void DecodePieces();
  void EndThreads();
  static void DecodePiece(DeflateDecoder& decoder, Piece& piece);
  Result<bool> BeginNext();
  void EndFirst();
  void Free(uint64_t at_bit);

  const ReadMore read_;
  UninitializedBytes ahead_;  // what has been read of the next piece
  bool is_file_over_ = false;
  bool is_first_ = true;  // the next piece is
  bool is_over_ = false;  // the rest is for another decoder
  std::vector<std::unique_ptr<Piece>> free_;
  std::deque<std::unique_ptr<Piece>> pieces_;  // in the file's order; the first becomes text
  bool has_begun_ = false;                     // the first one has
  bool is_awaited_ = false;                    // the first one has been decoded
  uint64_t at_bit_;                            // in the first one: all before it is text
  size_t token_at_ = 0;
  size_t literal_at_ = 0;
  size_t taken_ = 0;        // pieces that are text
  size_t misses_ = 0;       // of them, those that were decoded here
  DeflateDecoder decoder_;  // of pieces where the guess was wrong
  TokenText text_;
  uint32_t crc_ = 0;
  std::atomic<bool> is_ending_ = false;  // nobody wants what is not decoded yet
  BoundedQueue<Piece*> wanted_;
  std::vector<std::jthread> threads_;
};

}  // namespace tracedb
