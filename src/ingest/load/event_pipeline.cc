#include "ingest/load/event_pipeline.h"

#include <pthread.h>

#include <filesystem>
#include <map>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include "ingest/frame/event_framer.h"
#include "ingest/parse/event_parser.h"
#include "ingest/read/unpack_ahead.h"
#include "tracedb/base/bounded_queue.h"
#include "tracedb/base/run_caught.h"
#include "tracedb/ingest/read/content_hash.h"

namespace tracedb {
namespace {

struct Queues {
  explicit Queues(size_t count)
      : empty_windows(count), full_windows(count), empty_batches(count), full_batches(count) {}

  void CloseAll() {
    empty_windows.Close();
    full_windows.Close();
    empty_batches.Close();
    full_batches.Close();
  }

  BoundedQueue<EventWindow> empty_windows;
  BoundedQueue<EventWindow> full_windows;
  BoundedQueue<EventBatch> empty_batches;
  BoundedQueue<EventBatch> full_batches;
  std::atomic<uint64_t> events_built = 0;  // for on_progress
};

// For whoever looks at the threads with top or perf.
void NameThread(const char* name) { pthread_setname_np(pthread_self(), name); }

bool StopAsked(const LoadOptions& options) {
  return options.stop != nullptr && options.stop->load(std::memory_order_relaxed);
}

Error NoTrace(const InputFile& input, const EventFramer& framer) {
  const std::string name = input.path == "-" ? "standard input" : input.name();
  constexpr const char* kAdvice =
      "a trace is a JSON object with \"traceEvents\", or an array of events; plain, gzip or zstd";
  constexpr char kGzip = '\x1f';
  if (!framer.header().is_json() && framer.header().refused() == kGzip) {
    return Error{ErrorKind::kNoTrace, name + ": byte 0: packed twice: unpacked it is gzip again",
                 "unpack it once (gunzip), and ingest what comes out"};
  }
  if (!framer.header().is_json()) {
    return Error{ErrorKind::kNoTrace, name + ": byte 0: this is no trace: not JSON", kAdvice};
  }
  return Error{ErrorKind::kNoTrace,
               name + ": byte " + std::to_string(framer.text_bytes()) +
                   ": this is no trace: the file ends without \"traceEvents\"",
               kAdvice};
}

// Of a pipe whoever leaves early would have to wait until something comes.
bool IsPackedFile(const ByteSource& source, const InputFile& input) {
  const bool packed =
      source.packing() == BytePacking::kGzip || source.packing() == BytePacking::kZstd;
  std::error_code error;
  return packed && input.path != "-" && std::filesystem::is_regular_file(input.path, error);
}

// Of a small file the last block is most of it, and blocks of a few bytes have no room for pieces.
UnpackThreads ThreadsFor(const InputFile& input, const LoadOptions& options) {
  constexpr uintmax_t kFileBytesMin = 4 << 20;
  std::error_code error;
  const bool is_large = input.path != "-" && options.block_bytes == 0 &&
                        std::filesystem::is_regular_file(input.path, error) &&
                        std::filesystem::file_size(input.path, error) >= kFileBytesMin && !error;
  if (!is_large) return {};
  return {options.limits.unpack_threads, options.limits.unpack_bytes_max};
}

// Reads, unpacks and frames. Runs on a thread of its own.
Result<ReadOutcome> ReadEvents(const InputFile& input, const LoadOptions& options, Queues& queues) {
  ReadOutcome outcome;
  const UnpackThreads threads = ThreadsFor(input, options);
  TRACEDB_ASSIGN(
      source, input.open ? input.open(options.stop, options.limits.export_bytes_max)
                         : OpenByteSource(input.path, options.block_bytes, options.stop, threads));
  const bool packed = source->packing() != BytePacking::kPlain;
  bool hash_beside = false;
  // Pieces want more room at a time than a window may have left.
  if (const size_t ahead = options.limits.read_ahead_bytes;
      ahead > 0 && (threads.count > 0 ? packed : IsPackedFile(*source, input))) {
    hash_beside = threads.count > 0;
    source = UnpackAhead(std::move(source), ahead, hash_beside);
  }
  EventFramer framer(
      options.limits, outcome.issues, [&queues] { return queues.empty_windows.Pop(); },
      [&queues](EventWindow window) { return queues.full_windows.Push(std::move(window)); });
  ContentHash hash;
  while (!framer.stopped() && framer.header().is_json()) {
    const std::span<char> room = framer.Room();
    TRACEDB_ASSIGN(count, source->Read(room));
    if (count == 0) break;
    if (packed && !hash_beside) hash.Add(room.first(count));
    framer.Added(count);
    if (options.on_progress) {
      options.on_progress({source->packed_bytes(), framer.text_bytes(),
                           queues.events_built.load(std::memory_order_relaxed)});
    }
    if (StopAsked(options)) break;
  }
  framer.Finish();
  if (!framer.header().saw_events() && !framer.stopped() && !StopAsked(options)) {
    if (framer.text_bytes() == 0 && source->damage().has_value()) {
      return Error{ErrorKind::kInput, input.name() + ": " + source->damage()->what,
                   "copy the file again, or record it again"};
    }
    return NoTrace(input, framer);
  }
  outcome.complete = framer.complete();
  outcome.array_form = framer.header().array_form();
  if (const auto& damage = source->damage(); damage.has_value()) {
    outcome.issues.Add(
        damage->loses_text ? IssueKind::kDamagedCompression : IssueKind::kTrailingGarbage,
        framer.text_bytes(),
        damage->what + " (at byte " + std::to_string(damage->packed_offset) + " of the file)");
    if (damage->loses_text) outcome.complete = false;
  }
  if (source->issues() != nullptr) outcome.issues.Merge(*source->issues());
  outcome.header = framer.header().entries();
  outcome.file_bytes = source->packed_bytes();
  outcome.text_bytes = framer.text_bytes();
  outcome.file_hash = source->file_hash();
  outcome.text_hash = hash_beside ? source->text_hash()
                      : packed    ? hash.Digits()
                                  : outcome.file_hash;
  return outcome;
}

// Parses windows into batches until there are no more. Runs on a thread of its own.
Status ParseWindows(const LoadOptions& options, unsigned number, Queues& queues) {
  EventParser parser(options.limits, number, options.keep_args);
  for (;;) {
    // The batch first: whoever holds the oldest window must be able to finish it.
    auto batch = queues.empty_batches.Pop();
    if (!batch.has_value()) return Done{};
    auto window = queues.full_windows.Pop();
    if (!window.has_value()) return Done{};
    batch->Clear();
    parser.Parse(*window, *batch);
    if (!queues.empty_windows.Push(std::move(*window))) return Done{};
    if (!queues.full_batches.Push(std::move(*batch))) return Done{};
  }
}

// Takes batches as they come and gives them to the builder in the windows' order.
Status BuildInOrder(const LoadOptions& options, RecordBuilder& builder, Queues& queues) {
  std::map<uint64_t, EventBatch> early;
  uint64_t next = 0;
  while (auto batch = queues.full_batches.Pop()) {
    early.emplace(batch->ordinal, std::move(*batch));
    for (auto at = early.find(next); at != early.end(); at = early.find(next)) {
      EventBatch ready = std::move(at->second);
      early.erase(at);
      ++next;
      TRACEDB_TRY(builder.Add(ready));
      queues.events_built.fetch_add(ready.events.size(), std::memory_order_relaxed);
      if (options.strict && builder.issues().Any()) return Done{};
      if (!queues.empty_batches.Push(std::move(ready))) return Done{};
    }
    if (StopAsked(options)) return Done{};
  }
  return Done{};
}

}  // namespace

Result<ReadOutcome> RunPipeline(const InputFile& input, const LoadOptions& options,
                                RecordBuilder& builder) {
  const unsigned parsers = options.limits.parsers;
  const size_t count = 2 * parsers + 2;
  Queues queues(count);
  for (size_t i = 0; i < count; ++i) {
    if (!queues.empty_windows.Push(EventWindow{}) || !queues.empty_batches.Push(EventBatch{})) {
      break;
    }
  }
  Result<ReadOutcome> outcome = ReadOutcome{};
  std::jthread reader([&] {
    NameThread("trace-read");
    outcome = RunCaught([&] { return ReadEvents(input, options, queues); });
    if (!outcome.ok()) queues.CloseAll();
    queues.full_windows.Close();
  });
  std::vector<std::jthread> parsing;
  std::vector<Status> parsed(parsers, Done{});
  std::atomic<unsigned> parsing_left = parsers;
  const Status built = RunCaught([&]() -> Status {
    for (unsigned number = 0; number < parsers; ++number) {
      parsing.emplace_back([&, number] {
        NameThread("trace-parse");
        parsed[number] = RunCaught([&] { return ParseWindows(options, number, queues); });
        if (!parsed[number].ok()) queues.CloseAll();
        if (--parsing_left == 0) queues.full_batches.Close();
      });
    }
    return BuildInOrder(options, builder, queues);
  });
  queues.CloseAll();
  reader.join();
  parsing.clear();
  if (StopAsked(options)) {
    return Error{ErrorKind::kInput, "interrupted", "the database is as it was"};
  }
  if (!built.ok()) return built.error();
  for (const Status& status : parsed) TRACEDB_TRY(status);
  return outcome;
}

}  // namespace tracedb
