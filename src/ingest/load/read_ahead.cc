#include "ingest/load/read_ahead.h"

#include <chrono>
#include <utility>

#include "tracedb/base/database_files.h"
#include "tracedb/base/run_caught.h"

namespace tracedb {
namespace {

constexpr auto kLookEvery = std::chrono::milliseconds(20);

}  // namespace

void ReadingTurns::Wait(size_t file) {
  std::unique_lock lock(mutex_);
  const auto place = waiting_.insert(file).first;
  changed_.wait(lock, [&] { return free_ > 0 && place == waiting_.begin(); });
  waiting_.erase(place);
  --free_;
  if (free_ > 0) changed_.notify_all();
}

void ReadingTurns::End() {
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
  next_ids_.known = next_.get_future().share();
  done_ = std::async(std::launch::async, [this, begin = std::move(begin)] {
    Status read = RunCaught([&] {
      begin.turns->Wait(begin.file);
      turns_ = begin.turns;
      return Read(begin);
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
  return read.ok() && !unchanged_.has_value() && !reading_.is_derived();
}

void ReadAhead::EndTurn() {
  if (turns_ != nullptr) turns_->End();
  turns_.reset();
}

Status ReadAhead::Read(const Begin& begin) {
  TRACEDB_ASSIGN(unchanged, FindUnchangedFile(reading_.input(), &give_up_, begin.traces_of_size));
  unchanged_ = std::move(unchanged);
  if (unchanged_.has_value()) return Done{};
  TRACEDB_TRY(reading_.Read(rows_->path(), begin.place, {}));
  return reading_.DeriveAhead(rows_->path());
}

// Each file is read as the first of a database, and numbered when those before it have been read.
Status ReadAhead::Number(Status read, const Begin& begin) {
  const FirstIds first = begin.before.known.get();
  const bool is_new = read.ok() && !unchanged_.has_value();
  const FirstIds after = is_new ? reading_.NextIds() : FirstIds{};
  next_.set_value({first.trace_id + after.trace_id - 1, first.row + after.row - 1,
                   first.text + after.text - 1, first.path + after.path - 1});
  if (!is_new || !reading_.is_derived() || first == reading_.first()) return read;
  TRACEDB_ASSIGN(renumbered, RowsFile::Make(RealName(begin.database)));
  TRACEDB_TRY(reading_.Renumber(rows_->path(), renumbered.path(), first));
  rows_.emplace(std::move(renumbered));
  return Done{};
}

}  // namespace tracedb
