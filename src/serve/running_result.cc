#include "serve/running_result.h"

#include <fmt/format.h>

#include <utility>

#include "tracedb/query/run/gathered_notes.h"

namespace tracedb {
namespace {

// Text that is gathered before anything is sent. A result up to this has a Content-Length, and a
// failure in it has a status of its own.
constexpr int64_t kHeadBytes = 256 << 10;
constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";
constexpr std::string_view kTimeOver = "time over";
constexpr std::string_view kClientGone = "the client has gone";
constexpr std::string_view kOthersWait = "an ingest waits for the database";
constexpr std::chrono::seconds kOthersWaitMax(5);
constexpr std::string_view kServerEnds = "the server ends";

}  // namespace

bool StopReasons::Check() {
  if (!reason_.empty()) return true;
  if (stop_.load()) {
    reason_ = kServerEnds;
    return true;
  }
  const auto now = std::chrono::steady_clock::now();
  if (now < next_look_) return false;
  next_look_ = now + std::chrono::milliseconds(20);
  if (now >= end_) reason_ = kTimeOver;
  if (is_gone_ && is_gone_()) reason_ = kClientGone;
  if (!is_waited_for_ || !is_waited_for_()) {
    waits_since_.reset();
  } else if (now - waits_since_.value_or(now) > kOthersWaitMax) {
    reason_ = kOthersWait;
  } else if (!waits_since_.has_value()) {
    waits_since_ = now;
  }
  return !reason_.empty();
}

bool StopReasons::is_client_gone() const { return reason_ == kClientGone; }

bool StopReasons::is_of_one_client() const { return is_client_gone() || reason_ == kTimeOver; }

WebAnswer StopReasons::Answer() const {
  if (reason_ != kTimeOver) return BusyAnswer(reason_);
  const double seconds = std::chrono::duration<double>(time_).count();
  return BusyAnswer(fmt::format("the answer was not ready within {} s", seconds),
                    "--max-seconds gives it more time");
}

class RunningResult::Text : public OutputStream {
 public:
  explicit Text(RunningResult& result) : result_(result) {}
  int64_t bytes() const { return bytes_; }

 protected:
  Status WriteThrough(std::string_view bytes) override {
    bytes_ += static_cast<int64_t>(bytes.size());
    if (result_.gzip_ == nullptr) return result_.Put(bytes);
    return result_.Put(result_.gzip_->Add(bytes));
  }

 private:
  RunningResult& result_;
  int64_t bytes_ = 0;
};

RunningResult::RunningResult(DatabasePool::Lease lease, QuerySlots& slots, StopReasons reasons,
                             const ResultForm& form)
    : lease_(std::move(lease)),
      slot_(slots),
      reasons_(std::move(reasons)),
      form_(form),
      text_(std::make_unique<Text>(*this)) {
  lease_.db().StopIf([this] { return reasons_.Check(); });
}

// The statements go before the connection is given back.
RunningResult::~RunningResult() { query_.reset(); }

Status RunningResult::TakeSlot() {
  if (slot_.Take([this] { return reasons_.Check(); })) return Done{};
  return Error{ErrorKind::kQuery, std::string(reasons_.reason()), ""};
}

Status RunningResult::Prepare(const QueryDoc& doc, const std::vector<std::string>& params) {
  TRACEDB_TRY(TakeSlot());
  if (form_.gzip) {
    TRACEDB_ASSIGN(gzip, GzipText::Create());
    gzip_ = std::move(gzip);
  }
  SinkOptions options;
  options.header = form_.header;
  options.safe_text = form_.safe_text;
  options.long_as_text = form_.long_as_text;
  options.crlf = true;
  options.types = ColumnTypes(doc);
  sink_ = MakeSink(form_.format, options, *text_);
  TRACEDB_ASSIGN(query, PreparedQuery::Prepare(lease_.db(), doc, {params, ""}));
  query_ = std::move(query);
  return Done{};
}

Status RunningResult::NameMissingRanks(WebAnswer& answer) {
  TRACEDB_ASSIGN(missing, CountMissingRanks(lease_.db()));
  if (missing == 0) return Done{};
  answer.headers.emplace_back(
      "X-Tracedb-Missing-Ranks",
      fmt::format("{}; /doctor/ranks_not_gathered.csv names them", missing));
  return Done{};
}

Result<bool> RunningResult::RunHead() {
  if (form_.byte_order_mark) TRACEDB_TRY(text_->Write(kByteOrderMark));
  while (text_->bytes() < kHeadBytes) {
    TRACEDB_ASSIGN(more, query_->Advance(*sink_, form_.rows_max));
    if (more) continue;
    TRACEDB_TRY(Finish());
    return true;
  }
  return false;
}

Status RunningResult::SendRest(const WebAnswer::Write& write) {
  write_ = &write;
  TRACEDB_TRY(Put(std::exchange(head_, {})));
  while (true) {
    TRACEDB_ASSIGN(more, query_->Advance(*sink_, form_.rows_max));
    if (!more) break;
  }
  if (is_cut()) {
    return Error{ErrorKind::kInput, fmt::format("it has more than {} rows (--max-rows)", rows()),
                 ""};
  }
  return Finish();
}

Status RunningResult::Finish() {
  TRACEDB_TRY(text_->Flush());
  return gzip_ == nullptr ? Status(Done{}) : Put(gzip_->Finish());
}

Status RunningResult::Put(std::string_view bytes) {
  if (write_ == nullptr) {
    head_ += bytes;
    return Done{};
  }
  if (bytes.empty()) return Done{};
  // Meanwhile others may compute.
  slot_.GiveBack();
  const bool sent = (*write_)(bytes);
  // SQLite asks while it works, which it hardly does between two rows of a table.
  if (ShouldStop()) {
    const auto kind = reasons_.is_client_gone() ? ErrorKind::kClosed : ErrorKind::kQuery;
    return Error{kind, std::string(reasons_.reason()), ""};
  }
  if (!sent) return Error{ErrorKind::kClosed, "the client has gone", ""};
  return TakeSlot();
}

}  // namespace tracedb
