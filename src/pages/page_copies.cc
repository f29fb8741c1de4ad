#include "pages/page_copies.h"

#include <algorithm>
#include <thread>
#include <utility>

#include "pages/page_io.h"
#include "tracedb/base/cores.h"
#include "tracedb/base/run_caught.h"

namespace tracedb {
namespace {

constexpr size_t kCopyBytes = size_t{1} << 20;  // of all threads; twice the largest page each
constexpr size_t kThreadsMax = 2;

}  // namespace

PageCopies::PageCopies(int target, std::filesystem::path name, PageSizes sizes,
                       const std::atomic<bool>* stop)
    : target_(target), name_(std::move(name)), sizes_(sizes), stop_(stop) {}

PageCopies::~PageCopies() { give_up_ = true; }  // what is being written is waited for

void PageCopies::Add(int source, std::vector<Copy> copies, CheckPage check) {
  if (copies.empty()) return;
  const Lot& lot = lots_.emplace_back(Lot{source, std::move(copies), check});
  const auto before = std::make_shared<std::future<Status>>(std::move(writing_));
  writing_ = std::async(std::launch::async, [this, &lot, before]() -> Status {
    if (before->valid()) TRACEDB_TRY(before->get());
    return RunCaught([&] { return Write(lot); });
  });
}

Status PageCopies::Finish() { return writing_.valid() ? writing_.get() : Status(Done{}); }

std::optional<PageCopies::Origin> PageCopies::OriginOf(uint32_t to) const {
  for (const Lot& lot : lots_) {
    if (to < lot.copies.front().to || to > lot.copies.back().to) continue;
    const auto at =
        std::lower_bound(lot.copies.begin(), lot.copies.end(), to,
                         [](const Copy& copy, uint32_t page) { return copy.to < page; });
    if (at->to == to) return Origin{lot.source, at->from};
  }
  return std::nullopt;
}

// By several threads where there are cores for it: while one writes, which the kernel lets one do
// at a time, the others read and check.
Status PageCopies::Write(const Lot& lot) const {
  const size_t useful = std::max<size_t>(1, lot.copies.size() * sizes_.page_bytes / kCopyBytes);
  const size_t parts = std::min(std::clamp<size_t>(CoresToUse() / 4, 1, kThreadsMax), useful);
  std::vector<Status> done(parts, Done{});
  const auto write = [&](size_t part) {
    done[part] = RunCaught([&] {
      std::vector<uint8_t> buffer(kCopyBytes / parts);
      const size_t first = lot.copies.size() * part / parts;
      const size_t end = lot.copies.size() * (part + 1) / parts;
      return WriteRuns(lot, std::span(lot.copies).subspan(first, end - first), buffer);
    });
  };
  {
    std::vector<std::jthread> threads;
    for (size_t part = 1; part < parts; ++part) threads.emplace_back(write, part);
    write(0);
  }
  for (const Status& status : done) TRACEDB_TRY(status);
  return Done{};
}

// Neighbours at once.
Status PageCopies::WriteRuns(const Lot& lot, std::span<const Copy> copies,
                             std::span<uint8_t> buffer) const {
  const size_t run_max = buffer.size() / sizes_.page_bytes;
  for (size_t first = 0; first < copies.size();) {
    if (give_up_ || (stop_ != nullptr && stop_->load())) return Interrupted();
    const auto [from, to] = copies[first];
    size_t count = 1;
    while (count < run_max && first + count < copies.size() &&
           copies[first + count].from == from + count && copies[first + count].to == to + count) {
      ++count;
    }
    const auto run = buffer.first(count * sizes_.page_bytes);
    TRACEDB_TRY(ReadAt(lot.source, PlaceOf(from, sizes_), run, name_));
    for (size_t i = 0; i < count; ++i) {
      if (lot.check(run.subspan(i * sizes_.page_bytes, sizes_.page_bytes), sizes_)) continue;
      return Error{ErrorKind::kUnfit, "a row goes beyond its page", ""};
    }
    TRACEDB_TRY(WriteAt(target_, PlaceOf(to, sizes_), run, name_));
    first += count;
  }
  return Done{};
}

}  // namespace tracedb
