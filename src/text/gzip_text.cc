#include "tracedb/text/gzip_text.h"

#include <zlib.h>

#include <array>
#include <cassert>

namespace tracedb {

struct GzipText::Stream {
  ~Stream() { deflateEnd(&z); }
  z_stream z{};
};

GzipText::GzipText() : stream_(std::make_unique<Stream>()) {}
GzipText::~GzipText() = default;

Result<std::unique_ptr<GzipText>> GzipText::Create() {
  constexpr int kGzipWindow = 15 + 16;
  constexpr int kMemoryLevel = 8;
  std::unique_ptr<GzipText> gzip(new GzipText());
  // The lowest level: CSV of a trace becomes a tenth with it, and the network is rarely slower.
  if (deflateInit2(&gzip->stream_->z, Z_BEST_SPEED, Z_DEFLATED, kGzipWindow, kMemoryLevel,
                   Z_DEFAULT_STRATEGY) != Z_OK) {
    return Error{ErrorKind::kOutput, "gzip: out of memory", ""};
  }
  return gzip;
}

Result<std::string> GzipText::Whole(std::string_view text) {
  TRACEDB_ASSIGN(gzip, Create());
  std::string packed = gzip->Add(text);
  return packed + gzip->Finish();
}

std::string GzipText::Pack(std::string_view text, bool last) {
  std::string packed;
  std::array<unsigned char, 32768> piece{};
  z_stream& stream = stream_->z;
  stream.next_in = reinterpret_cast<unsigned char*>(const_cast<char*>(text.data()));
  stream.avail_in = static_cast<unsigned>(text.size());
  do {
    stream.next_out = piece.data();
    stream.avail_out = static_cast<unsigned>(piece.size());
    const int code = deflate(&stream, last ? Z_FINISH : Z_NO_FLUSH);
    assert(code != Z_STREAM_ERROR);
    (void)code;
    packed.append(reinterpret_cast<char*>(piece.data()), piece.size() - stream.avail_out);
  } while (stream.avail_out == 0);
  return packed;
}

}  // namespace tracedb
