// One compressed stream, a piece at a time: the only contact with ISA-L, zlib and libzstd.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>

namespace tracedb {

struct InflateStep {
  size_t taken = 0;          // bytes of input used up
  size_t made = 0;           // bytes of output written
  bool member_done = false;  // a gzip member or zstd frame ended, its checksum was right
  std::string trouble;       // what is wrong with the data; empty when nothing is
};

// Where a block begins in the middle of a gzip member.
struct InflateStart {
  unsigned taken_bits = 0;  // 1 to 7: of a byte that does not come again, as the rest of it is here
  unsigned char byte = 0;   // that byte
  uint32_t crc = 0;         // of the text before
  uint64_t text_bytes = 0;
  std::span<const char> history;  // the last 32 KiB of it, or all
};

class ByteInflater {
 public:
  virtual ~ByteInflater() = default;
  virtual InflateStep Inflate(std::span<const char> in, std::span<char> out) = 0;
  // Ready for the next member.
  virtual void Restart() = 0;
  // ISA-L writes some hundred bytes too many where the data are damaged. Remember() is called where
  // `in` may have to be read again from; TextUpToDamage reads it again, with care, and leaves out
  // `given` bytes of text. Nothing where text and place were right at once.
  struct LastText {
    std::string text;
    size_t taken = 0;
    std::string trouble;
  };
  virtual void Remember() {}
  virtual std::optional<LastText> TextUpToDamage(std::span<const char> /*in*/, uint64_t /*given*/) {
    return std::nullopt;
  }
  // Ready for what comes from there on, where it can be.
  virtual bool CanStartAt() const { return false; }
  virtual void StartAt(const InflateStart& /*start*/) {}
};

// Null when the library cannot set itself up (out of memory).
std::unique_ptr<ByteInflater> MakeGzipInflater();  // ISA-L where it was found, else zlib
std::unique_ptr<ByteInflater> MakeZlibInflater();
std::unique_ptr<ByteInflater> MakeZstdInflater();

// Of the header of a gzip member (RFC 1952) that `data` begin with; 0 where it is none, or not
// there as a whole.
size_t GzipHeaderBytes(std::span<const char> data);

// Of text that comes after text with the checksum `crc`; 0: of none.
uint32_t GzipCrc(uint32_t crc, std::span<const char> text);

}  // namespace tracedb
