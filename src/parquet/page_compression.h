// Pages of Parquet files, packed and unpacked with zstd; each has a checksum.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>

struct ZSTD_CCtx_s;
struct ZSTD_DCtx_s;

namespace tracedb {

// Both keep zstd's memory, which they ask for at first use. They belong to a file and not to a
// thread: what a thread keeps has to be registered with it, and where there is no memory for that
// glibc ends the program.
class PagePacker {
 public:
  std::string Pack(std::string_view page, int level);

 private:
  struct Free {
    void operator()(ZSTD_CCtx_s* context) const;
  };
  std::unique_ptr<ZSTD_CCtx_s, Free> context_;
};

class PageUnpacker {
 public:
  // Nothing where it is no frame of zstd, is damaged, or does not unpack to `bytes` bytes exactly.
  std::optional<std::string> Unpack(std::string_view packed, size_t bytes);

 private:
  struct Free {
    void operator()(ZSTD_DCtx_s* context) const;
  };
  std::unique_ptr<ZSTD_DCtx_s, Free> context_;
};

}  // namespace tracedb
