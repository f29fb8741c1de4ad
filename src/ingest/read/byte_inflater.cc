#include "ingest/read/byte_inflater.h"

#include <zlib.h>
#include <zstd.h>
#include <zstd_errors.h>

#include <algorithm>
#include <limits>
#include <new>
#include <utility>
#include <vector>

#ifdef TRACEDB_WITH_ISAL
#include <isa-l/crc.h>
#include <isa-l/igzip_lib.h>
#endif

namespace tracedb {
namespace {

uInt Clamped(size_t bytes) {
  return static_cast<uInt>(std::min<size_t>(bytes, std::numeric_limits<int>::max()));
}

class ZlibInflater final : public ByteInflater {
 public:
  ZlibInflater() { ready_ = inflateInit2(&stream_, 15 + 16) == Z_OK; }
  ~ZlibInflater() override {
    if (ready_) inflateEnd(&stream_);
  }
  ZlibInflater(const ZlibInflater&) = delete;
  ZlibInflater& operator=(const ZlibInflater&) = delete;

  bool ready() const { return ready_; }

  InflateStep Inflate(std::span<const char> in, std::span<char> out) override {
    // zlib's interface predates const; it does not write to its input.
    stream_.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(in.data()));
    stream_.avail_in = Clamped(in.size());
    stream_.next_out = reinterpret_cast<Bytef*>(out.data());
    stream_.avail_out = Clamped(out.size());
    const uInt in_before = stream_.avail_in;
    const uInt out_before = stream_.avail_out;
    const int code = inflate(&stream_, Z_NO_FLUSH);
    if (code == Z_MEM_ERROR) throw std::bad_alloc();
    InflateStep step;
    step.taken = in_before - stream_.avail_in;
    step.made = out_before - stream_.avail_out;
    step.member_done = code == Z_STREAM_END;
    if (code != Z_OK && code != Z_STREAM_END && code != Z_BUF_ERROR) {
      step.trouble = stream_.msg != nullptr ? stream_.msg : "the gzip data are damaged";
    }
    return step;
  }

  void Restart() override { inflateReset(&stream_); }

 private:
  z_stream stream_{};
  bool ready_ = false;
};

#ifdef TRACEDB_WITH_ISAL
const char* IsalTrouble(int code) {
  switch (code) {
    case ISAL_INCORRECT_CHECKSUM:
      return "the gzip checksum does not match";
    case ISAL_INVALID_WRAPPER:
    case ISAL_UNSUPPORTED_METHOD:
      return "the gzip header is wrong";
    default:
      return "the gzip data are damaged";
  }
}

class IsalInflater final : public ByteInflater {
 public:
  // ISA-L sets what it reads; the rest of the 80 KiB is room.
  IsalInflater() : state_(std::make_unique_for_overwrite<inflate_state>()) { Restart(); }

  InflateStep Inflate(std::span<const char> in, std::span<char> out) override {
    is_fresh_ = false;
    // ISA-L's interface predates const; it does not write to its input.
    state_->next_in = reinterpret_cast<uint8_t*>(const_cast<char*>(in.data()));
    state_->avail_in = Clamped(in.size());
    state_->next_out = reinterpret_cast<uint8_t*>(out.data());
    state_->avail_out = Clamped(out.size());
    const uint32_t in_before = state_->avail_in;
    const uint32_t out_before = state_->avail_out;
    const int code = isal_inflate(state_.get());
    InflateStep step;
    // Where the data are damaged ISA-L may count more bytes than it was given.
    step.taken = state_->avail_in <= in_before ? in_before - state_->avail_in : in_before;
    step.made = state_->avail_out <= out_before ? out_before - state_->avail_out : out_before;
    step.member_done = code == ISAL_DECOMP_OK && state_->block_state == ISAL_BLOCK_FINISH;
    if (code < 0) step.trouble = IsalTrouble(code);
    is_damaged_ =
        code == ISAL_INVALID_BLOCK || code == ISAL_INVALID_SYMBOL || code == ISAL_INVALID_LOOKBACK;
    return step;
  }

  void Remember() override {
    remembers_fresh_ = is_fresh_;
    if (is_fresh_) return;  // of a small file there is nothing to copy
    if (remembered_ == nullptr) remembered_ = std::make_unique_for_overwrite<inflate_state>();
    *remembered_ = *state_;
  }

  // A byte at a time it is exact, but for the header, which it misreads then.
  std::optional<LastText> TextUpToDamage(std::span<const char> in, uint64_t given) override {
    if (!is_damaged_) return std::nullopt;
    size_t at_once = 1;
    if (remembers_fresh_) {
      Restart();
      at_once = std::max<size_t>(GzipHeaderBytes(in), 1);
    } else {
      *state_ = *remembered_;
    }
    LastText last;
    std::vector<char> room(kCarefulRoomBytes);
    while (last.trouble.empty()) {
      const size_t count = std::min(std::exchange(at_once, 1), in.size() - last.taken);
      const InflateStep step = Inflate(in.subspan(last.taken, count), room);
      last.taken += step.taken;
      last.trouble = step.trouble;
      const size_t known = std::min<uint64_t>(given, step.made);
      given -= known;
      last.text.append(room.data() + known, step.made - known);
      if (step.member_done || (step.taken == 0 && step.made == 0)) break;
    }
    // Less the bytes that it has, and has not looked at.
    last.taken -=
        std::min(last.taken, static_cast<size_t>(std::max(0, state_->read_in_length)) / 8);
    return last;
  }

  void Restart() override {
    isal_inflate_init(state_.get());
    state_->crc_flag = ISAL_GZIP;
    is_fresh_ = true;
  }

  bool CanStartAt() const override { return true; }

  void StartAt(const InflateStart& start) override {
    Restart();
    is_fresh_ = false;
    isal_inflate_set_dict(state_.get(),
                          reinterpret_cast<uint8_t*>(const_cast<char*>(start.history.data())),
                          Clamped(start.history.size()));
    state_->crc_flag = ISAL_GZIP_NO_HDR_VER;
    state_->crc = start.crc;
    state_->total_out = static_cast<uint32_t>(start.text_bytes);
    if (start.taken_bits > 0) {
      state_->read_in = start.byte >> start.taken_bits;
      state_->read_in_length = static_cast<int32_t>(8 - start.taken_bits);
    }
  }

 private:
  static constexpr size_t kCarefulRoomBytes = size_t{64} << 10;

  std::unique_ptr<inflate_state> state_;
  std::unique_ptr<inflate_state> remembered_;
  bool is_fresh_ = true;  // at a member's begin
  bool remembers_fresh_ = true;
  bool is_damaged_ = false;
};
#endif

class ZstdInflater final : public ByteInflater {
 public:
  ZstdInflater() : context_(ZSTD_createDCtx()) {
    // A frame may ask for a window of gigabytes; 2^23 is what every level up to 19 uses, and
    // what the zstd format asks decoders to support.
    if (ready()) ZSTD_DCtx_setParameter(context_.get(), ZSTD_d_windowLogMax, 23);
  }

  bool ready() const { return context_ != nullptr; }

  InflateStep Inflate(std::span<const char> in, std::span<char> out) override {
    ZSTD_inBuffer input{in.data(), in.size(), 0};
    ZSTD_outBuffer output{out.data(), out.size(), 0};
    const size_t code = ZSTD_decompressStream(context_.get(), &output, &input);
    if (ZSTD_getErrorCode(code) == ZSTD_error_memory_allocation) throw std::bad_alloc();
    InflateStep step;
    step.taken = input.pos;
    step.made = output.pos;
    if (ZSTD_isError(code) != 0) {
      step.trouble = std::string("the zstd data are wrong: ") + ZSTD_getErrorName(code);
    } else {
      step.member_done = code == 0;
    }
    return step;
  }

  void Restart() override { ZSTD_DCtx_reset(context_.get(), ZSTD_reset_session_only); }

 private:
  struct Free {
    void operator()(ZSTD_DCtx* context) const { ZSTD_freeDCtx(context); }
  };
  std::unique_ptr<ZSTD_DCtx, Free> context_;
};

}  // namespace

size_t GzipHeaderBytes(std::span<const char> data) {
  constexpr size_t kFixedBytes = 10;
  constexpr unsigned kHasCrc = 2, kHasExtra = 4, kHasName = 8, kHasComment = 16, kFlags = 31;
  const auto byte = [&](size_t at) { return static_cast<unsigned char>(data[at]); };
  if (data.size() < kFixedBytes || byte(0) != 0x1f || byte(1) != 0x8b || byte(2) != Z_DEFLATED) {
    return 0;
  }
  const unsigned flags = byte(3);
  if ((flags & ~kFlags) != 0) return 0;
  size_t at = kFixedBytes;
  if ((flags & kHasExtra) != 0) {
    if (data.size() < at + 2) return 0;
    at += 2 + byte(at) + size_t{256} * byte(at + 1);
  }
  for (const unsigned text : {kHasName, kHasComment}) {
    if ((flags & text) == 0) continue;
    while (at < data.size() && data[at] != '\0') ++at;
    ++at;
  }
  if ((flags & kHasCrc) != 0) at += 2;
  return at <= data.size() ? at : 0;
}

uint32_t GzipCrc(uint32_t crc, std::span<const char> text) {
  const auto* const bytes = reinterpret_cast<const unsigned char*>(text.data());
#ifdef TRACEDB_WITH_ISAL
  return crc32_gzip_refl(crc, bytes, text.size());
#else
  return static_cast<uint32_t>(crc32_z(crc, bytes, text.size()));
#endif
}

std::unique_ptr<ByteInflater> MakeZlibInflater() {
  auto inflater = std::make_unique<ZlibInflater>();
  if (!inflater->ready()) return nullptr;
  return inflater;
}

std::unique_ptr<ByteInflater> MakeGzipInflater() {
#ifdef TRACEDB_WITH_ISAL
  return std::make_unique<IsalInflater>();
#else
  return MakeZlibInflater();
#endif
}

std::unique_ptr<ByteInflater> MakeZstdInflater() {
  auto inflater = std::make_unique<ZstdInflater>();
  if (!inflater->ready()) return nullptr;
  return inflater;
}

}  // namespace tracedb
