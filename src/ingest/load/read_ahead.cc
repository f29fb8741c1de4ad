#include "ingest/load/read_ahead.h"

#include <chrono>
#include <utility>

#include "tracedb/base/database_files.h"
#include "tracedb/base/run_caught.h"

namespace tracedb {
namespace {

constexpr auto kLookEvery = std::chrono::milliseconds(20);

// The turn of one file, until its end.
class Turn {
 public:
  Turn(FileTurns& turns, size_t file) : turns_(turns) { turns_.Wait(file); }
  ~Turn() { turns_.End(); }
  Turn(const Turn&) = delete;
  Turn& operator=(const Turn&) = delete;

 private:
  FileTurns& turns_;
};

bool IsKnown(const std::shared_future<FirstIds>& ids) {
  return ids.wait_for(std::chrono::seconds(0)) == std::future_status::ready;
}

}  // namespace

void FileTurns::Wait(size_t file) {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [&] { return free_ > 0 && file == next_; });
  ++next_;
  --free_;
  if (free_ > 0) changed_.notify_all();
}

void FileTurns::End() {
  const std::lock_guard lock(mutex_);
  ++free_;
  changed_.notify_all();
}

ReadAhead::ReadAhead(const InputFile& file, const LoadOptions& options)
    : options_(options), reading_(file, options_) {
  options_.stop = &give_up_;
  options_.on_progress = [this](const LoadProgress& now) {
    file_bytes_.store(now.file_bytes, std::memory_order_relaxed);
    text_bytes_.store(now.text_bytes, std::memory_order_relaxed);
    events_.store(now.events, std::memory_order_relaxed);
  };
}

ReadAhead::~ReadAhead() {
  GiveUp();
  if (done_.valid()) done_.wait();
  EndTurn();
}

Status ReadAhead::Start(Begin begin) {
  TRACEDB_ASSIGN(rows, RowsFile::Make(RealName(begin.database)));
  rows_.emplace(std::move(rows));
  next_ids_.but_paths = next_but_paths_.get_future().share();
  next_ids_.known = next_.get_future().share();
  done_ = std::async(std::launch::async, [this, begin = std::move(begin)] {
    Status read = RunCaught([&] {
      begin.turns->in_memory.Wait(begin.turn);
      turns_ = begin.turns;
      return Load(begin);
    });
    if (!HoldsMemory(read)) EndTurn();
    return RunCaught([&] { return Number(std::move(read), begin); });
  });
  return Done{};
}

bool ReadAhead::WaitsUntilDone() const {
  return outcome_.has_value() || done_.wait_for(kLookEvery) == std::future_status::ready;
}

bool ReadAhead::IsDone() const {
  return outcome_.has_value() ||
         done_.wait_for(std::chrono::seconds(0)) == std::future_status::ready;
}

const Status& ReadAhead::Outcome() {
  if (!outcome_.has_value()) outcome_ = done_.get();
  return *outcome_;
}

bool ReadAhead::IsReady() { return IsDone() && Outcome().ok() && !unchanged_.has_value(); }

// Of a trace whose rank only the ones before it tell, what was gathered is needed until it lands.
bool ReadAhead::HoldsMemory(const Status& read) const {
  return IsNew(read) && !reading_.is_derived();
}

void ReadAhead::EndTurn() {
  if (turns_ != nullptr) turns_->in_memory.End();
  turns_.reset();
}

Status ReadAhead::Load(const Begin& begin) {
  {
    const Turn turn(begin.turns->reading, begin.turn);
    const Status read = RunCaught([&] { return Read(begin); });
    if (IsKnown(begin.before.but_paths)) {
      next_but_paths_.set_value(IdsAfter(begin.before.but_paths.get(), read));
      next_are_told_ = true;
    }
    if (!IsNew(read)) return read;
  }
  if (has_ids_) reading_.BeginPathsWith(begin.before.known.get().path);
  return reading_.DeriveAhead(rows_->path());
}

// With the ids that it will have, where they are known; else as the first file of a database.
Status ReadAhead::Read(const Begin& begin) {
  TRACEDB_ASSIGN(unchanged, FindUnchangedFile(reading_.input(), &give_up_, begin.traces_of_size));
  unchanged_ = std::move(unchanged);
  if (unchanged_.has_value()) return Done{};
  has_ids_ = IsKnown(begin.before.but_paths);
  return reading_.Read(rows_->path(), begin.place,
                       has_ids_ ? begin.before.but_paths.get() : FirstIds{});
}

// Those of the file after it, where it begins with `first` itself.
FirstIds ReadAhead::IdsAfter(const FirstIds& first, const Status& read) const {
  if (!IsNew(read)) return first;
  const FirstIds own = reading_.first();
  const FirstIds after = reading_.NextIds();
  return {first.trace_id + after.trace_id - own.trace_id, first.row + after.row - own.row,
          first.text + after.text - own.text, first.path + after.path - own.path};
}

// A file that was read as the first of a database is numbered when those before it have been read;
// so is one with ids that are others after all, as one before it failed later.
Status ReadAhead::Number(Status read, const Begin& begin) {
  const FirstIds first = begin.before.known.get();
  if (has_ids_ && IsNew(read) && !reading_.is_derived()) reading_.BeginPathsWith(first.path);
  const FirstIds next = IdsAfter(first, read);
  if (!next_are_told_) next_but_paths_.set_value(next);
  next_.set_value(next);
  if (!IsNew(read) || !reading_.is_derived() || first == reading_.first()) return read;
  TRACEDB_ASSIGN(renumbered, RowsFile::Make(RealName(begin.database)));
  TRACEDB_TRY(reading_.Renumber(rows_->path(), renumbered.path(), first));
  rows_.emplace(std::move(renumbered));
  return Done{};
}

}  // namespace tracedb
