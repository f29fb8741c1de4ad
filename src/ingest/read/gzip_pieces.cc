#include "ingest/read/gzip_pieces.h"

#include <pthread.h>

#include <algorithm>
#include <cassert>
#include <cstring>
#include <limits>
#include <system_error>
#include <utility>

namespace tracedb {
namespace {

constexpr uint64_t kNoBlock = std::numeric_limits<uint64_t>::max();

}  // namespace

GzipPieces::Piece::Piece(size_t token_bytes)
    : bytes(kPieceBytes + kNextBytes + DeflateDecoder::kSlackBytes), tokens(token_bytes) {}

std::unique_ptr<GzipPieces> GzipPieces::Begin(std::span<const char> first, ReadMore read,
                                              const UnpackThreads& threads) {
  constexpr char kHasCrc = 2;  // of the header itself: for a decoder to compare
  const size_t header_bytes = GzipHeaderBytes(first);
  if (header_bytes == 0 || (first[3] & kHasCrc) != 0 || first.size() > kNextBytes) return nullptr;
  if (threads.count == 0 || threads.bytes_max / (2 * threads.count) < 4 * kPieceBytes) {
    return nullptr;
  }
  std::unique_ptr<GzipPieces> pieces(new GzipPieces(first, header_bytes, std::move(read), threads));
  try {
    for (unsigned i = 0; i < threads.count; ++i) {
      pieces->threads_.emplace_back([of = pieces.get()] { of->DecodePieces(); });
    }
  } catch (const std::system_error&) {  // no more threads are to be had: it goes without
    return nullptr;
  }
  return pieces;
}

GzipPieces::GzipPieces(std::span<const char> first, size_t header_bytes, ReadMore read,
                       const UnpackThreads& threads)
    : read_(std::move(read)),
      ahead_(first.begin(), first.end()),
      at_bit_(header_bytes * 8),
      wanted_(2 * threads.count) {
  // One is decoded by each thread while another waits for its turn to become text.
  const size_t pieces = 2 * threads.count;
  const size_t data_bytes = kPieceBytes + kNextBytes + DeflateDecoder::kSlackBytes;
  for (size_t i = 0; i < pieces; ++i) {
    free_.push_back(std::make_unique<Piece>(threads.bytes_max / pieces - data_bytes));
  }
}

GzipPieces::~GzipPieces() { EndThreads(); }

void GzipPieces::EndThreads() {
  is_ending_ = true;
  wanted_.Close();
  threads_.clear();
}

Status GzipPieces::StartPieces() {
  while (!free_.empty()) {
    std::unique_ptr<Piece>& piece = free_.back();
    TRACEDB_ASSIGN(any, FillPiece(*piece));
    if (!any) return Done{};
    pieces_.push_back(std::move(piece));
    free_.pop_back();
    static_cast<void>(wanted_.Push(pieces_.back().get()));
  }
  return Done{};
}

// False: the file is over.
Result<bool> GzipPieces::FillPiece(Piece& piece) {
  std::copy(ahead_.begin(), ahead_.end(), piece.bytes.begin());
  size_t filled = ahead_.size();
  while (filled < kPieceBytes + kNextBytes && !is_file_over_) {
    const std::span<char> room(piece.bytes);
    TRACEDB_ASSIGN(got, read_(room.subspan(filled, kPieceBytes + kNextBytes - filled)));
    filled += got;
    is_file_over_ = got == 0;
  }
  std::memset(piece.bytes.data() + filled, 0, DeflateDecoder::kSlackBytes);
  piece.own_bytes = std::min(filled, kPieceBytes);
  piece.all_bytes = filled;
  piece.is_first = std::exchange(is_first_, false);
  piece.first_bit = at_bit_;
  const auto begin = piece.bytes.begin();
  ahead_.assign(begin + static_cast<ptrdiff_t>(piece.own_bytes),
                begin + static_cast<ptrdiff_t>(piece.all_bytes));
  return filled > 0;
}

// Runs on threads of their own; takes no memory, so that nothing is thrown there.
void GzipPieces::DecodePieces() {
  pthread_setname_np(pthread_self(), "trace-inflate");
  DeflateDecoder decoder;
  while (const auto piece = wanted_.Pop()) {
    if (!is_ending_) DecodePiece(decoder, **piece);
    (*piece)->is_decoded.release();
  }
}

// From the first block on that is found; from where a block seems to begin, but none does, nothing
// can be decoded.
void GzipPieces::DecodePiece(DeflateDecoder& decoder, Piece& piece) {
  DeflateTokens& tokens = piece.tokens;
  if (piece.is_first) return decoder.Decode(piece.Data(), piece.first_bit, piece.OwnBits(), tokens);
  uint64_t from = 0;
  for (int guesses = 0; guesses < kGuessesMax; ++guesses) {
    const auto found = decoder.FindBlock(piece.Data(), from, piece.OwnBits());
    if (!found.has_value()) break;
    decoder.Decode(piece.Data(), *found, piece.OwnBits(), tokens);
    if (tokens.end_bit > *found) return;
    from = *found + 1;
  }
  tokens.begin_bit = kNoBlock;
}

Result<size_t> GzipPieces::Read(std::span<char> into) {
  static_assert(kPiecesRoomBytesMin > TokenText::kRoomBytesMin);
  assert(into.size() >= kPiecesRoomBytesMin);
  while (!is_over_) {
    if (!has_begun_) {
      TRACEDB_ASSIGN(begun, BeginNext());
      is_over_ = !begun;
      if (is_over_) break;
    }
    DeflateTokens& tokens = pieces_.front()->tokens;
    const size_t made = text_.Write(tokens, token_at_, literal_at_, into);
    if (token_at_ == tokens.token_count) EndFirst();
    if (made == 0) continue;
    crc_ = GzipCrc(crc_, into.first(made));
    return made;
  }
  return size_t{0};
}

// The tokens of the first piece, from at_bit_ on. False: it has none there.
Result<bool> GzipPieces::BeginNext() {
  for (;;) {
    TRACEDB_TRY(StartPieces());
    if (pieces_.empty()) return false;
    Piece& piece = *pieces_.front();
    if (!std::exchange(is_awaited_, true)) piece.is_decoded.acquire();
    if (at_bit_ < piece.OwnBits()) break;
    Free(at_bit_ - piece.OwnBits());  // a block reaches beyond it
  }
  Piece& piece = *pieces_.front();
  if (piece.tokens.begin_bit != at_bit_) {
    if (++misses_ > kMissesMin + taken_ / 4) return false;
    decoder_.Decode(piece.Data(), at_bit_, piece.OwnBits(), piece.tokens);
  }
  if (piece.tokens.end_bit == at_bit_ || text_.ReachesTooFar(piece.tokens)) return false;
  has_begun_ = true;
  token_at_ = literal_at_ = 0;
  return true;
}

// All of its tokens are text. They are not all of the piece where there was no room for more, or
// where the next block is one for another decoder.
void GzipPieces::EndFirst() {
  const Piece& piece = *pieces_.front();
  has_begun_ = false;
  at_bit_ = piece.tokens.end_bit;
  if (at_bit_ >= piece.OwnBits()) Free(at_bit_ - piece.OwnBits());
}

// The first one; `at_bit` is in the next.
void GzipPieces::Free(uint64_t at_bit) {
  ++taken_;
  free_.push_back(std::move(pieces_.front()));
  pieces_.pop_front();
  at_bit_ = at_bit;
  is_awaited_ = false;
}

GzipPieces::Rest GzipPieces::TakeRest() {
  EndThreads();
  Rest rest;
  size_t bytes = kPieceBytes + DeflateDecoder::kSlackBytes;
  for (const auto& piece : pieces_) bytes += piece->own_bytes;
  rest.data.reserve(bytes);
  InflateStart& start = rest.start;
  start.crc = crc_;
  start.text_bytes = text_.bytes();
  start.history = text_.History();
  start.taken_bits = at_bit_ % 8;
  if (start.taken_bits > 0) start.byte = pieces_.front()->Data()[at_bit_ / 8];
  size_t known = (at_bit_ + 7) / 8;
  for (const auto& piece : pieces_) {
    rest.data.insert(rest.data.end(), piece->bytes.begin() + static_cast<ptrdiff_t>(known),
                     piece->bytes.begin() + static_cast<ptrdiff_t>(piece->all_bytes));
    known = piece->all_bytes - piece->own_bytes;
  }
  return rest;
}

}  // namespace tracedb
