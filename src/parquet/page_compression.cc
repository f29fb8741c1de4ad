#include "parquet/page_compression.h"

#include <zstd.h>

#include <memory>
#include <new>

namespace tracedb {
namespace {

struct FreePacker {
  void operator()(ZSTD_CCtx* packer) const { ZSTD_freeCCtx(packer); }
};
struct FreeUnpacker {
  void operator()(ZSTD_DCtx* unpacker) const { ZSTD_freeDCtx(unpacker); }
};

}  // namespace

std::string CompressPage(std::string_view page, int level) {
  thread_local const std::unique_ptr<ZSTD_CCtx, FreePacker> packer(ZSTD_createCCtx());
  if (packer == nullptr) throw std::bad_alloc();
  ZSTD_CCtx_setParameter(packer.get(), ZSTD_c_compressionLevel, level);
  ZSTD_CCtx_setParameter(packer.get(), ZSTD_c_checksumFlag, 1);
  std::string packed(ZSTD_compressBound(page.size()), '\0');
  const size_t bytes =
      ZSTD_compress2(packer.get(), packed.data(), packed.size(), page.data(), page.size());
  if (ZSTD_isError(bytes) != 0) throw std::bad_alloc();  // the only thing that can be missing
  packed.resize(bytes);
  return packed;
}

std::optional<std::string> DecompressPage(std::string_view packed, size_t bytes) {
  thread_local const std::unique_ptr<ZSTD_DCtx, FreeUnpacker> unpacker(ZSTD_createDCtx());
  if (unpacker == nullptr) throw std::bad_alloc();
  // A frame that says how long it is does so before room is made for it.
  if (ZSTD_getFrameContentSize(packed.data(), packed.size()) != bytes) return std::nullopt;
  std::string page(bytes, '\0');
  const size_t got =
      ZSTD_decompressDCtx(unpacker.get(), page.data(), page.size(), packed.data(), packed.size());
  if (ZSTD_isError(got) != 0 || got != bytes) return std::nullopt;
  return page;
}

}  // namespace tracedb
