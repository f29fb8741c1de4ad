#include "parquet/page_compression.h"

#include <zstd.h>
#include <zstd_errors.h>

#include <new>

namespace tracedb {

void PagePacker::Free::operator()(ZSTD_CCtx* context) const { ZSTD_freeCCtx(context); }
void PageUnpacker::Free::operator()(ZSTD_DCtx* context) const { ZSTD_freeDCtx(context); }

std::string PagePacker::Pack(std::string_view page, int level) {
  if (context_ == nullptr) context_.reset(ZSTD_createCCtx());
  if (context_ == nullptr) throw std::bad_alloc();
  ZSTD_CCtx_setParameter(context_.get(), ZSTD_c_compressionLevel, level);
  ZSTD_CCtx_setParameter(context_.get(), ZSTD_c_checksumFlag, 1);
  std::string packed(ZSTD_compressBound(page.size()), '\0');
  const size_t bytes =
      ZSTD_compress2(context_.get(), packed.data(), packed.size(), page.data(), page.size());
  if (ZSTD_isError(bytes) != 0) throw std::bad_alloc();  // the only thing that can be missing
  packed.resize(bytes);
  return packed;
}

std::optional<std::string> PageUnpacker::Unpack(std::string_view packed, size_t bytes) {
  if (context_ == nullptr) context_.reset(ZSTD_createDCtx());
  if (context_ == nullptr) throw std::bad_alloc();
  // A frame that says how long it is does so before room is made for it.
  if (ZSTD_getFrameContentSize(packed.data(), packed.size()) != bytes) return std::nullopt;
  std::string page(bytes, '\0');
  const size_t got =
      ZSTD_decompressDCtx(context_.get(), page.data(), page.size(), packed.data(), packed.size());
  if (ZSTD_getErrorCode(got) == ZSTD_error_memory_allocation) throw std::bad_alloc();
  if (ZSTD_isError(got) != 0 || got != bytes) return std::nullopt;
  return page;
}

}  // namespace tracedb
