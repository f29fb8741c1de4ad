// Each stage of an ingest alone, on one thread: what it costs for a gigabyte of JSON.
//
//   bench_stages TRACE [PREFIX_BYTES]
//
// Windows are kept in memory (a prefix of the trace, 400 MB by default), so that parsing and
// building are measured without the stages before them.

#include <fmt/format.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <span>
#include <string>
#include <vector>

#include "ingest/build/record_builder.h"
#include "ingest/build/table_writer.h"
#include "ingest/frame/event_framer.h"
#include "ingest/frame/event_scan.h"
#include "ingest/parse/event_parser.h"
#include "tracedb/ingest/read/byte_source.h"
#include "tracedb/ingest/read/content_hash.h"
#include "tracedb/sources/source_readers.h"

namespace tracedb {
namespace {

double CpuSeconds() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  const auto seconds = [](const timeval& time) {
    return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) / 1e6;
  };
  return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

// Of this thread alone.
double OwnCpuSeconds() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) / 1e9;
}

// Of the thread with this name so far; 0: there is none.
double CpuSecondsOf(const std::string& name) {
  for (const auto& thread : std::filesystem::directory_iterator("/proc/self/task")) {
    std::string named;
    std::getline(std::ifstream(thread.path() / "comm"), named);
    double nanoseconds = 0;
    if (named == name && std::ifstream(thread.path() / "schedstat") >> nanoseconds) {
      return nanoseconds / 1e9;
    }
  }
  return 0;
}

void Report(const char* stage, double cpu_seconds, uint64_t text_bytes) {
  const double gigabytes = static_cast<double>(text_bytes) / 1e9;
  cpu_seconds = std::max(cpu_seconds, 1e-9);  // a small trace never needs some of the threads
  fmt::print("{:<22} {:8.0f} MB/s {:8.3f} CPU s/GB\n", stage, gigabytes * 1e3 / cpu_seconds,
             cpu_seconds / gigabytes);
}

// Block by block, as the reading thread does: the hash takes what is still in the cache.
Status Unpack(const std::filesystem::path& path, uint64_t bytes_max) {
  TRACEDB_ASSIGN(source, OpenByteSource(path, 0));
  std::vector<char> block(1 << 20);
  ContentHash hash;
  uint64_t bytes = 0;
  double hashing = 0;
  const double before = CpuSeconds();
  while (bytes < bytes_max) {
    TRACEDB_ASSIGN(count, source->Read(block));
    if (count == 0) break;
    bytes += count;
    const double unpacked = CpuSeconds();
    hash.Add(std::span(block).first(count));
    hashing += CpuSeconds() - unpacked;
  }
  Report("read and unpack", CpuSeconds() - before - hashing, bytes);
  Report("hash", hashing, bytes);
  return Done{};
}

// As from eight cores on: threads decode pieces of the file, and this one makes text of them.
Status UnpackPieces(const std::filesystem::path& path, uint64_t bytes_max) {
  constexpr UnpackThreads kThreads{3, size_t{7} << 20};
  TRACEDB_ASSIGN(source, OpenByteSource(path, 0, nullptr, kThreads));
  std::vector<char> block(1 << 20);
  uint64_t bytes = 0;
  const double before = CpuSeconds();
  const double own_before = OwnCpuSeconds();
  while (bytes < bytes_max) {
    TRACEDB_ASSIGN(count, source->Read(block));
    if (count == 0) break;
    bytes += count;
  }
  const double own = OwnCpuSeconds() - own_before;
  Report("decode pieces", CpuSeconds() - before - own, bytes);
  Report("text of pieces", own, bytes);
  return Done{};
}

// The prefix's windows, kept.
Result<std::vector<EventWindow>> Frame(const std::filesystem::path& path, uint64_t bytes_max,
                                       const LoadLimits& limits, uint64_t& text_bytes) {
  TRACEDB_ASSIGN(source, OpenByteSource(path, 0));
  std::vector<EventWindow> windows;
  EventIssues issues;
  EventFramer framer(
      limits, issues, [] { return EventWindow{}; },
      [&windows](EventWindow window) {
        windows.push_back(std::move(window));
        return true;
      });
  while (framer.text_bytes() < bytes_max) {
    TRACEDB_ASSIGN(count, source->Read(framer.Room()));
    if (count == 0) break;
    framer.Added(count);
  }
  framer.Finish();
  text_bytes = 0;
  for (const EventWindow& window : windows) text_bytes += window.end - window.begin;
  return windows;
}

void Scan(const std::vector<EventWindow>& windows, uint64_t text_bytes) {
  const double before = CpuSeconds();
  uint64_t ends = 0;
  for (const EventWindow& window : windows) {
    EventScanState state;
    const std::string_view text = window.text();
    ends += ScanEvents(state, text.data(), text.data() + text.size()).last_end != nullptr ? 1 : 0;
  }
  Report("find event ends", CpuSeconds() - before, text_bytes);
  if (ends != windows.size()) fmt::print("  {} windows without an end\n", windows.size() - ends);
}

std::vector<EventBatch> Parse(std::vector<EventWindow>& windows, const LoadLimits& limits,
                              uint64_t text_bytes) {
  // As in the pipeline, where batches go round: without the cost of fresh memory.
  EventParser measured(limits, 0, true);
  EventBatch reused;
  const double before = CpuSeconds();
  for (EventWindow& window : windows) {
    reused.Clear();
    measured.Parse(window, reused);
  }
  Report("parse", CpuSeconds() - before, text_bytes);
  EventParser parser(limits, 0, true);
  std::vector<EventBatch> batches(windows.size());
  for (size_t i = 0; i < windows.size(); ++i) parser.Parse(windows[i], batches[i]);
  return batches;
}

// Rows gathered from, written, and their pages as well, where they are built, or by threads beside
// it, as from four cores on.
Status Build(const std::vector<EventBatch>& batches, const LoadLimits& limits, uint64_t text_bytes,
             bool on_thread) {
  const std::filesystem::path path =
      std::filesystem::temp_directory_path() / fmt::format("bench_stages.{}.db", getpid());
  std::ofstream(path).close();
  TRACEDB_ASSIGN(writer, TableWriter::Create(path, 1, on_thread));
  const KindRules rules({{"nccl", GpuKind::kCommunication}});
  GatheredSlices gathered(limits, std::filesystem::temp_directory_path());
  RowLots rows(gathered, *writer, on_thread);
  RecordBuilder builder(rows, limits, rules, {}, true);
  const double before = CpuSeconds();
  const double own_before = OwnCpuSeconds();
  for (const EventBatch& batch : batches) TRACEDB_TRY(builder.Add(batch));
  const double own = OwnCpuSeconds() - own_before;
  const double gather = CpuSecondsOf("trace-gather");  // all but the last lots
  const double flush = CpuSecondsOf("trace-flush");
  TRACEDB_TRY(builder.Finish());
  TRACEDB_TRY(rows.Finish());
  TRACEDB_TRY(gathered.Finish());
  TRACEDB_TRY(writer->FinishPages());
  if (on_thread) {
    Report("build beside a writer", own, text_bytes);
    Report("gather from rows", gather, text_bytes);
    Report("write pages", flush, text_bytes);
    Report("write rows", CpuSeconds() - before - own - gather - flush, text_bytes);
    std::filesystem::remove(path);
    return Done{};
  }
  Report("build rows and pages", CpuSeconds() - before, text_bytes);
  const uint64_t events = builder.summary().events;
  fmt::print(
      "{:<22} {} events, {:.1f} bytes each in the database, {:.3f} of the JSON\n", "", events,
      static_cast<double>(std::filesystem::file_size(path)) / static_cast<double>(events),
      static_cast<double>(std::filesystem::file_size(path)) / static_cast<double>(text_bytes));
  std::filesystem::remove(path);
  return Done{};
}

// Every file that is given is asked for by all readers of files that are no traces.
Status Tell(const std::filesystem::path& path) {
  constexpr int kTimes = 1000;
  TRACEDB_ASSIGN(source, OpenByteSource(path, 0));
  std::vector<char> text(SourceHead::kBytesMax);
  SourceHead head;
  size_t filled = 0;
  while (filled < text.size() && !head.is_whole) {
    TRACEDB_ASSIGN(count, source->Read(std::span(text).subspan(filled)));
    filled += count;
    head.is_whole = count == 0;
  }
  head.text = {text.data(), filled};
  const double before = CpuSeconds();
  int told = 0;
  for (int i = 0; i < kTimes; ++i) told += TellSource(head) != nullptr ? 1 : 0;
  fmt::print("{:<22} {:8.1f} us a file: {}\n", "tell other files",
             (CpuSeconds() - before) * 1e6 / kTimes, told > 0 ? "it is one" : "it is none");
  return Done{};
}

Status Run(const std::filesystem::path& path, uint64_t bytes_max) {
  LoadLimits limits = LoadLimits::For(LoadLimits::kMemoryBytesDefault, 1);
  TRACEDB_TRY(Tell(path));
  TRACEDB_TRY(Unpack(path, bytes_max));
  TRACEDB_TRY(UnpackPieces(path, bytes_max));
  uint64_t text_bytes = 0;
  TRACEDB_ASSIGN(windows, Frame(path, bytes_max, limits, text_bytes));
  Scan(windows, text_bytes);
  const std::vector<EventBatch> batches = Parse(windows, limits, text_bytes);
  constexpr unsigned kThreadsMax = 6;  // as on seven cores: with more, memory of some is for pieces
  fmt::print("{:<22} {:8} at the default --memory\n", "parsers at most",
             LoadLimits::For(LoadLimits::kMemoryBytesDefault, kThreadsMax).parsers);
  TRACEDB_TRY(Build(batches, limits, text_bytes, false));
  return Build(batches, limits, text_bytes, true);
}

}  // namespace
}  // namespace tracedb

int main(int argc, char** argv) {
  if (argc < 2) {
    fmt::print(stderr, "usage: bench_stages TRACE [PREFIX_BYTES]\n");
    return 2;
  }
  const uint64_t bytes_max = argc > 2 ? std::strtoull(argv[2], nullptr, 10) : 400'000'000;
  const tracedb::Status done = tracedb::Run(argv[1], bytes_max);
  if (done.ok()) return 0;
  fmt::print(stderr, "bench_stages: {}\n", done.error().what);
  return 1;
}
