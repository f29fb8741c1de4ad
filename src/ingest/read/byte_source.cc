#include "tracedb/ingest/read/byte_source.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <string_view>

#include "ingest/read/byte_inflater.h"
#include "ingest/read/gzip_pieces.h"
#include "tracedb/base/uninitialized_bytes.h"
#include "tracedb/ingest/read/content_hash.h"

namespace tracedb {
namespace {

constexpr size_t kInputBytes = 256 * 1024;
// ISA-L misreads a gzip header with a file name that it gets in pieces, so a member is begun with
// so much of it at hand; no name is as long.
constexpr size_t kMemberStartBytes = 64 * 1024;
constexpr size_t kSlackBytes = 16;  // zeros after the input: damaged data make ISA-L look further
constexpr std::string_view kGzipMagic = "\x1f\x8b";
constexpr std::string_view kZstdMagic = "\x28\xb5\x2f\xfd";

// The first byte of a zstd frame that decoders skip is 0x50 to 0x5f.
constexpr char kSkippableFirst = '\x50';
constexpr std::string_view kSkippableRest = "\x2a\x4d\x18";

// Whether the shorter one is how the longer one begins.
bool StartsAlike(std::string_view a, std::string_view b) {
  const size_t size = std::min(a.size(), b.size());
  return a.substr(0, size) == b.substr(0, size);
}

bool IsZstdStart(std::string_view text) {
  if (text.starts_with(kZstdMagic)) return true;
  return text.size() >= 4 && (text[0] & '\xf0') == kSkippableFirst &&
         text.substr(1).starts_with(kSkippableRest);
}

// A file descriptor with its name, for messages.
class InputDescriptor {
 public:
  InputDescriptor(int fd, std::string name, const std::atomic<bool>* stop)
      : fd_(fd), name_(std::move(name)), stop_(stop) {
    struct stat status;
    waits_ = fstat(fd_, &status) == 0 && !S_ISREG(status.st_mode);
  }
  ~InputDescriptor() {
    if (fd_ > STDIN_FILENO) close(fd_);
  }
  InputDescriptor(const InputDescriptor&) = delete;
  InputDescriptor& operator=(const InputDescriptor&) = delete;

  Result<size_t> Read(std::span<char> into) {
    for (;;) {
      if (waits_) TRACEDB_TRY(WaitForBytes());
      const ssize_t got = read(fd_, into.data(), into.size());
      if (got >= 0) {
        bytes_ += static_cast<uint64_t>(got);
        at_end_ = got == 0;
        hash_.Add(into.first(static_cast<size_t>(got)));
        return static_cast<size_t>(got);
      }
      if (errno == EINTR || errno == EAGAIN) continue;
      return Error{
          ErrorKind::kInput,
          name_ + ": byte " + std::to_string(bytes_) + ": cannot read: " + std::strerror(errno),
          "check that it is a file, and the disk or network it is on"};
    }
  }

  uint64_t bytes() const { return bytes_; }
  std::string hash() const { return at_end_ ? hash_.Digits() : ""; }
  const std::string& name() const { return name_; }

 private:
  // Of a pipe or device: until there is something to read, or a stop is asked for.
  Status WaitForBytes() {
    constexpr int kLookAtStopMs = 100;
    pollfd waiting = {fd_, POLLIN, 0};
    while (poll(&waiting, 1, kLookAtStopMs) == 0 || waiting.revents == 0) {
      if (stop_ != nullptr && stop_->load()) {
        return Error{ErrorKind::kInput, name_ + ": interrupted", ""};
      }
    }
    return Done{};
  }

  int fd_;
  std::string name_;
  const std::atomic<bool>* stop_;
  bool waits_ = false;  // not a regular file
  uint64_t bytes_ = 0;
  bool at_end_ = false;
  ContentHash hash_;
};

// The first bytes of a file have been read to tell what it is; they come first.
class PlainSource final : public ByteSource {
 public:
  PlainSource(std::unique_ptr<InputDescriptor> file, UninitializedBytes first)
      : file_(std::move(file)), first_(std::move(first)) {}

  Result<size_t> Read(std::span<char> into) override {
    if (first_at_ < first_.size()) {
      const size_t count = std::min(into.size(), first_.size() - first_at_);
      std::memcpy(into.data(), first_.data() + first_at_, count);
      first_at_ += count;
      return count;
    }
    return file_->Read(into);
  }

  const std::optional<ByteDamage>& damage() const override { return damage_; }
  BytePacking packing() const override { return BytePacking::kPlain; }
  uint64_t packed_bytes() const override { return file_->bytes(); }
  std::string file_hash() const override { return file_->hash(); }

 private:
  std::unique_ptr<InputDescriptor> file_;
  UninitializedBytes first_;
  size_t first_at_ = 0;
  std::optional<ByteDamage> damage_;
};

// Unpacks member after member. What follows the last one may be zero bytes (padding of tapes and
// block devices); anything else is noted as damage that loses nothing.
class PackedSource final : public ByteSource {
 public:
  PackedSource(std::unique_ptr<InputDescriptor> file, UninitializedBytes first, BytePacking packing,
               std::unique_ptr<ByteInflater> inflater, const UnpackThreads& threads)
      : file_(std::move(file)),
        input_(std::move(first)),
        packing_(packing),
        inflater_(std::move(inflater)) {
    if (threads.count > 0 && packing_ == BytePacking::kGzip && inflater_->CanStartAt()) {
      pieces_ = GzipPieces::Begin(
          input_, [this](std::span<char> more) { return file_->Read(more); }, threads);
    }
    input_end_ = input_.size();
    input_.resize(kInputBytes + kSlackBytes);
    EndWithSlack();
  }

  Result<size_t> Read(std::span<char> into) override {
    if (pieces_ != nullptr) {
      TRACEDB_ASSIGN(made, pieces_->Read(into));
      if (made > 0) return made;
      GoOnAlone();
    }
    while (!over_) {
      const size_t wanted = between_members_ ? kMemberStartBytes : 1;
      if (input_end_ - at_ < wanted && !file_over_) {
        TRACEDB_TRY(Refill());
        continue;
      }
      if (between_members_) {
        if (!StartMember()) continue;
      }
      const InflateStep step = inflater_->Inflate({input_.data() + at_, input_end_ - at_}, into);
      if (!step.trouble.empty() && LookAgain()) return GiveLast(into);
      at_ += step.taken;
      given_ += step.made;
      if (!step.trouble.empty()) {
        Stop(true, step.trouble);
      } else if (step.member_done) {
        inflater_->Restart();
        between_members_ = true;
      } else if (step.made == 0 && step.taken == 0 && file_over_ && at_ == input_end_) {
        Stop(true, "the compressed data end too soon");
      }
      if (step.made > 0) return step.made;
    }
    return GiveLast(into);
  }

  const std::optional<ByteDamage>& damage() const override { return damage_; }
  BytePacking packing() const override { return packing_; }
  uint64_t packed_bytes() const override { return file_->bytes(); }
  // Pieces may have read on beyond what is damaged.
  std::string file_hash() const override { return file_over_ ? file_->hash() : ""; }

 private:
  // Reads on after what is left.
  Status Refill() {
    std::copy(input_.begin() + static_cast<ptrdiff_t>(at_),
              input_.begin() + static_cast<ptrdiff_t>(input_end_), input_.begin());
    input_end_ -= at_;
    at_ = 0;
    TRACEDB_ASSIGN(got, file_->Read({input_.data() + input_end_, kInputBytes - input_end_}));
    input_end_ += got;
    EndWithSlack();
    file_over_ = got == 0;
    if (!between_members_) Remember();
    return Done{};
  }

  void Remember() {
    inflater_->Remember();
    remembered_at_ = at_;
    given_ = 0;
  }

  // Whether text and place of the damage have to be found with care; they are, then.
  bool LookAgain() {
    auto last = inflater_->TextUpToDamage(
        {input_.data() + remembered_at_, input_end_ - remembered_at_}, given_);
    if (!last.has_value() || last->trouble.empty()) return false;
    at_ = remembered_at_ + last->taken;
    Stop(true, std::move(last->trouble));
    last_text_ = std::move(last->text);
    return true;
  }

  size_t GiveLast(std::span<char> into) {
    const size_t count = std::min(into.size(), last_text_.size());
    std::copy_n(last_text_.begin(), count, into.begin());
    last_text_.erase(0, count);
    return count;
  }

  // From where the pieces end.
  void GoOnAlone() {
    GzipPieces::Rest rest = pieces_->TakeRest();
    inflater_->StartAt(rest.start);
    pieces_.reset();
    input_ = std::move(rest.data);
    input_end_ = input_.size();
    input_.resize(std::max(input_end_, kInputBytes) + kSlackBytes);
    EndWithSlack();
    at_ = 0;
    any_member_ = true;
    between_members_ = false;
    Remember();
  }

  void EndWithSlack() { std::memset(input_.data() + input_end_, 0, kSlackBytes); }

  // Between members: true when another one begins here. Zero bytes are skipped, more input may be
  // needed to tell.
  bool StartMember() {
    while (at_ < input_end_ && input_[at_] == '\0' && any_member_) {
      ++at_;
    }
    if (at_ == input_end_) {
      over_ = file_over_;
      return false;
    }
    if (any_member_ && !MayStartMember()) {
      Stop(false, "the bytes after the compressed data are something else");
      return false;
    }
    any_member_ = true;
    between_members_ = false;
    Remember();
    return true;
  }

  // Whether what is here begins like a member, as far as it is here.
  bool MayStartMember() const {
    const std::string_view here(input_.data() + at_, std::min<size_t>(input_end_ - at_, 4));
    if (packing_ == BytePacking::kGzip) return StartsAlike(here, kGzipMagic);
    return StartsAlike(here, kZstdMagic) ||
           ((here[0] & '\xf0') == kSkippableFirst && StartsAlike(here.substr(1), kSkippableRest));
  }

  void Stop(bool loses_text, std::string what) {
    over_ = true;
    const uint64_t left = input_end_ - at_;
    damage_ = ByteDamage{loses_text, file_->bytes() - left, std::move(what)};
  }

  std::unique_ptr<InputDescriptor> file_;
  UninitializedBytes input_;
  size_t at_ = 0;
  size_t input_end_ = 0;
  BytePacking packing_;
  std::unique_ptr<ByteInflater> inflater_;
  std::unique_ptr<GzipPieces> pieces_;  // as long as these go on
  size_t remembered_at_ = 0;            // in input_: where the inflater may have to begin again
  uint64_t given_ = 0;                  // text since then
  std::string last_text_;               // before the damage, and not given yet
  bool file_over_ = false;
  bool over_ = false;
  bool any_member_ = false;
  bool between_members_ = true;
  std::optional<ByteDamage> damage_;
};

// Reads at most `block_bytes` at a time from another source.
class ShortReadSource final : public ByteSource {
 public:
  ShortReadSource(std::unique_ptr<ByteSource> inner, size_t block_bytes)
      : inner_(std::move(inner)), block_bytes_(block_bytes) {}
  Result<size_t> Read(std::span<char> into) override {
    return inner_->Read(into.first(std::min(into.size(), block_bytes_)));
  }
  const std::optional<ByteDamage>& damage() const override { return inner_->damage(); }
  BytePacking packing() const override { return inner_->packing(); }
  uint64_t packed_bytes() const override { return inner_->packed_bytes(); }
  std::string file_hash() const override { return inner_->file_hash(); }

 private:
  std::unique_ptr<ByteSource> inner_;
  size_t block_bytes_;
};

struct ForeignPacking {
  std::string_view magic;
  std::string_view name;
};
constexpr ForeignPacking kForeign[] = {{std::string_view("\xfd"
                                                         "7zXZ\0",
                                                         6),
                                        "xz"},
                                       {"BZh", "bzip2"},
                                       {"PK\x03\x04", "zip"},
                                       {"7z\xbc\xaf", "7z"},
                                       {"\x04\x22\x4d\x18", "lz4"},
                                       {"SQLite format 3", "SQLite"}};

Result<std::unique_ptr<ByteSource>> Unpacked(std::unique_ptr<InputDescriptor> file,
                                             UninitializedBytes first,
                                             const UnpackThreads& threads) {
  const std::string_view text(first.data(), first.size());
  for (const ForeignPacking& foreign : kForeign) {
    if (!text.starts_with(foreign.magic)) continue;
    return Error{ErrorKind::kInput,
                 file->name() + ": this is a " + std::string(foreign.name) + " file, not a trace",
                 foreign.name == "SQLite"
                     ? "to ask it something: tracedb query --db FILE"
                     : "unpack it first, or pipe it in: ... | tracedb ingest -"};
  }
  const bool gzip = text.starts_with(kGzipMagic);
  if (!gzip && !IsZstdStart(text)) {
    return std::unique_ptr<ByteSource>(
        std::make_unique<PlainSource>(std::move(file), std::move(first)));
  }
  auto inflater = gzip ? MakeGzipInflater() : MakeZstdInflater();
  if (inflater == nullptr) {
    return Error{ErrorKind::kInput, file->name() + ": no memory left to unpack it", ""};
  }
  return std::unique_ptr<ByteSource>(std::make_unique<PackedSource>(
      std::move(file), std::move(first), gzip ? BytePacking::kGzip : BytePacking::kZstd,
      std::move(inflater), threads));
}

}  // namespace

Result<std::unique_ptr<ByteSource>> OpenByteSource(const std::filesystem::path& path,
                                                   size_t block_bytes,
                                                   const std::atomic<bool>* stop,
                                                   const UnpackThreads& threads) {
  const bool is_stdin = path == "-";
  const int fd = is_stdin ? STDIN_FILENO : open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (fd < 0) {
    return Error{ErrorKind::kInput, path.string() + ": cannot open: " + std::strerror(errno),
                 "check the name and that you may read it"};
  }
  auto file =
      std::make_unique<InputDescriptor>(fd, is_stdin ? "standard input" : path.string(), stop);
  // A pipe may give a byte at a time; the longest magic number wants sixteen.
  UninitializedBytes first;
  first.reserve(kInputBytes + kSlackBytes);  // what PackedSource makes of it
  first.resize(kMemberStartBytes);
  size_t filled = 0;
  while (filled < 16) {
    TRACEDB_ASSIGN(got, file->Read(std::span(first).subspan(filled)));
    if (got == 0) break;
    filled += got;
  }
  first.resize(filled);
  if (filled == 0) {
    return Error{ErrorKind::kInput, file->name() + ": the file is empty",
                 "a profiler that was killed leaves empty files: record it again"};
  }
  TRACEDB_ASSIGN(source, Unpacked(std::move(file), std::move(first), threads));
  if (block_bytes == 0) return source;
  return std::unique_ptr<ByteSource>(
      std::make_unique<ShortReadSource>(std::move(source), block_bytes));
}

}  // namespace tracedb
