// One query on its way to one client: rows become text, packed when asked for, first into memory
// and then, when there is more of it, onto the network.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "serve/database_pool.h"
#include "serve/http/web_message.h"
#include "serve/query_slots.h"
#include "tracedb/query/doc/query_doc.h"
#include "tracedb/query/run/query_run.h"
#include "tracedb/text/gzip_text.h"
#include "tracedb/text/output_stream.h"
#include "tracedb/text/result_sink.h"

namespace tracedb {

// When to stop a query: the server ends, its time is over, its client has gone, or somebody waits
// to write to the database, which no reader may keep him from for long.
class StopReasons {
 public:
  // The request has `time` from `begun` on, whatever it waited for. `is_waited_for` may be empty,
  // as `is_gone` may.
  StopReasons(const std::atomic<bool>& stop, std::chrono::steady_clock::time_point begun,
              std::chrono::milliseconds time, std::function<bool()> is_gone,
              std::function<bool()> is_waited_for)
      : stop_(stop),
        time_(time),
        end_(begun + time),
        is_gone_(std::move(is_gone)),
        is_waited_for_(std::move(is_waited_for)) {}

  // True from the first reason on. Cheap: really looks 50 times a second only.
  bool Check();
  // What to tell the client; only when Check() was true.
  WebAnswer Answer() const;
  std::string_view reason() const { return reason_; }  // empty: none
  bool is_client_gone() const;
  // Another client who asks the same may go on.
  bool is_of_one_client() const;

 private:
  const std::atomic<bool>& stop_;
  const std::chrono::milliseconds time_;
  const std::chrono::steady_clock::time_point end_;
  const std::function<bool()> is_gone_;
  const std::function<bool()> is_waited_for_;
  std::optional<std::chrono::steady_clock::time_point> waits_since_;
  std::chrono::steady_clock::time_point next_look_{};
  std::string_view reason_;
};

struct ResultForm {
  Format format = Format::kCsv;
  bool header = true;
  bool byte_order_mark = false;
  bool safe_text = true;
  bool long_as_text = false;
  bool gzip = false;
  std::optional<int64_t> rows_max;
};

class RunningResult {
 public:
  RunningResult(DatabasePool::Lease lease, QuerySlots& slots, StopReasons reasons,
                const ResultForm& form);
  ~RunningResult();
  RunningResult(const RunningResult&) = delete;
  RunningResult& operator=(const RunningResult&) = delete;

  // Compiles; an error of kUsage is about the parameters.
  Status Prepare(const QueryDoc& doc, const std::vector<std::string>& params);
  // Of a gathered database: whoever reads the answer elsewhere should know what it is without.
  Status NameMissingRanks(WebAnswer& answer);
  // Runs to the end of the result, or until there is enough text to begin sending. True: it is
  // whole. An error for which stopped() has a reason came from that.
  Result<bool> RunHead();
  // What RunHead made.
  std::string TakeHead() { return std::move(head_); }
  // Sends the head, and the rest as it comes. An error: what was sent is not whole.
  Status SendRest(const WebAnswer::Write& write);

  // Whether there is a reason to stop; to be asked also while the client is waited for, who would
  // keep others from the database.
  bool ShouldStop() { return reasons_.Check(); }

  SqliteDb& db() { return lease_.db(); }
  const StopReasons& stopped() const { return reasons_; }
  int64_t rows() const { return query_->outcome().rows; }
  bool is_cut() const { return query_->outcome().cut; }

 private:
  class Text;  // what the sink writes to

  Status TakeSlot();
  Status Put(std::string_view bytes);
  Status Finish();

  DatabasePool::Lease lease_;
  HeldSlot slot_;
  StopReasons reasons_;
  const ResultForm form_;
  std::unique_ptr<GzipText> gzip_;
  std::unique_ptr<Text> text_;
  std::unique_ptr<RowSink> sink_;
  std::optional<PreparedQuery> query_;
  std::string head_;
  const WebAnswer::Write* write_ = nullptr;  // once the head is sent
};

}  // namespace tracedb
