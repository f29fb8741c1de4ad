// One compressed stream, a piece at a time: the only contact with ISA-L, zlib and libzstd.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>

namespace tracedb {

struct InflateStep {
  size_t taken = 0;          // bytes of input used up
  size_t made = 0;           // bytes of output written
  bool member_done = false;  // a gzip member or zstd frame ended, its checksum was right
  std::string trouble;       // what is wrong with the data; empty when nothing is
};

class ByteInflater {
 public:
  virtual ~ByteInflater() = default;
  virtual InflateStep Inflate(std::span<const char> in, std::span<char> out) = 0;
  // Ready for the next member.
  virtual void Restart() = 0;
};

// Null when the library cannot set itself up (out of memory).
std::unique_ptr<ByteInflater> MakeGzipInflater();  // ISA-L where it was found, else zlib
std::unique_ptr<ByteInflater> MakeZlibInflater();
std::unique_ptr<ByteInflater> MakeZstdInflater();

}  // namespace tracedb
