// make_trace: a trace of any size from a small recorded one.
//
// Takes a trace as Kineto pretty-prints it and repeats its events, each repeat shifted in time and
// in every id that links events, so that it reads as the later steps of the same run. Header,
// metadata events and the keys after the array come once. The bytes between the numbers stay as
// they were recorded, and no number passes through a double. Knows nothing of tracedb.
//
// The fixture is scanned once into text and number values; a repeat only formats numbers. A second
// thread deflates, fed through a bounded queue. Memory: the fixture, 24 bytes a column, the queue.
// long because: it is one program that must build by itself, away from the project.

#include <zlib.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <deque>
#include <filesystem>
#include <iterator>
#include <memory>
#include <mutex>
#include <optional>
#include <random>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

namespace {

namespace fs = std::filesystem;

// Goes up whenever the same command would make other bytes; caches name their files by it.
constexpr int kMakerVersion = 1;
constexpr size_t kFixtureBytesMax = size_t{1} << 30;
constexpr size_t kBlockBytes = size_t{1} << 20;
constexpr size_t kQueueBlocksMax = 4;
constexpr size_t kFlowCategoriesMax = 8;
constexpr uint64_t kOutputBytesMax = 10'000'000'000'000;
// From here on a value is a marker such as 4294967295 ("none"), not an id to shift.
constexpr uint64_t kIdMax = 0x7fffffff;
constexpr std::string_view kArrayStart = "\n  \"traceEvents\": [\n  ";

constexpr std::string_view kUsage =
    "usage: make_trace --from FIXTURE.json[.gz] --size SIZE --out FILE [options]\n"
    "  --from FILE   a trace as Kineto pretty-prints it, plain or gzipped\n"
    "  --size SIZE   bytes of JSON to reach: 12M, 2.5G, 800Mi (K, M, G, T are powers of 1000)\n"
    "  --out FILE    what to write; FILE.partial-... until it is whole\n"
    "  --cut         end the last repeat where the size is reached: a capture stopped early;\n"
    "                otherwise repeats are whole and the size is the least\n"
    "  --level N     zlib level 0 to 9 (default 9, as Python's gzip)\n"
    "  --plain       write JSON, not gzip\n"
    "  --version     the version of the maker\n";

struct [[nodiscard]] Status {
  std::string error;  // empty: fine
  bool ok() const { return error.empty(); }
};

// What a number column adds, repeat by repeat. Flow ids have a kind for each category from
// kFirstFlow on, since categories number their flows independently.
enum Shift : uint8_t {
  kTime,
  kExternalId,
  kCorrelation,
  kEventIndex,
  kRecordFunction,
  kSequence,
  kPython,
  kStep,
  kFirstFlow,
};
constexpr size_t kShifts = kFirstFlow + kFlowCategoriesMax;
using Deltas = std::array<uint64_t, kShifts>;

struct IdKey {
  std::string_view key;
  Shift shift;
  bool zero_is_none;
};
constexpr IdKey kIdKeys[] = {
    {"External id", kExternalId, true},
    {"external id", kExternalId, true},
    {"correlation", kCorrelation, true},
    {"wait_on_cuda_event_record_corr_id", kCorrelation, true},
    {"Ev Idx", kEventIndex, false},
    {"Profiler Event Index", kEventIndex, false},
    {"Record function id", kRecordFunction, true},
    {"Sequence number", kSequence, false},
    {"Python id", kPython, true},
    {"Python parent id", kPython, true},
};
constexpr std::string_view kStepName = "ProfilerStep#";

// A run of digits in the fixture's text that changes from repeat to repeat.
struct ArgsColumn {
  uint64_t offset_bytes;
  uint64_t value;
  uint8_t digits;
  Shift shift;
};

struct Event {
  uint64_t begin_bytes;
  uint64_t end_bytes;
  size_t first_slot;
  size_t end_slot;
  int64_t start_ns;
};

struct Fixture {
  std::string text;
  std::string_view head, rest;     // views of text: before the first event, after the last one
  std::vector<ArgsColumn> values;  // in order of offset
  std::vector<Event> repeated;     // in order of the text, both
  std::vector<Event> once;
  Deltas step{};  // what one repeat adds to each kind
};

// ---- scanning the fixture -----------------------------------------------------------------------

struct Number {  // microseconds in text
  uint64_t integer = 0;
  size_t integer_digits = 0;
  int64_t ns = 0;  // rounded up past three decimals
};

std::optional<Number> ParseMicroseconds(std::string_view text) {
  Number number;
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, number.integer);
  if (error != std::errc() || number.integer > 1'000'000'000'000'000'000 / 1000) return {};
  number.integer_digits = static_cast<size_t>(stop - text.data());
  number.ns = static_cast<int64_t>(number.integer) * 1000;
  if (stop == end) return number;
  if (*stop != '.') return {};
  int64_t unit_ns = 100;
  for (const char* digit = stop + 1; digit != end; ++digit) {
    if (*digit < '0' || *digit > '9') return {};
    if (unit_ns > 0) {
      number.ns += (*digit - '0') * unit_ns;
    } else if (*digit != '0') {
      ++number.ns;
      break;
    }
    unit_ns /= 10;
  }
  return number;
}

// Reads the fixture's events one after the other into values.
class FixtureScanner {
 public:
  explicit FixtureScanner(Fixture& fixture) : fixture_(fixture), text_(fixture.text) {}

  Status Scan() {
    const size_t array = text_.find(kArrayStart);
    if (array == std::string_view::npos) return At(0, "no traceEvents as Kineto pretty-prints it");
    size_t pos = array + kArrayStart.size();
    fixture_.head = text_.substr(0, pos - 2);
    for (;;) {
      if (pos >= text_.size() || text_[pos] != '{') return At(pos, "an event should begin here");
      if (Status status = ScanEvent(pos); !status.ok()) return status;
      pos = event_.end_bytes;
      const std::string_view after = text_.substr(pos);
      if (after.starts_with("\n  ]")) break;
      if (!after.starts_with(",\n  {")) return At(pos, "expected the next event, or the end");
      pos += 4;
    }
    fixture_.rest = text_.substr(pos);
    if (fixture_.repeated.empty()) return At(pos, "there is no event to repeat");
    return SetSteps();
  }

 private:
  Status At(size_t offset_bytes, std::string_view what) const {
    return {"byte " + std::to_string(offset_bytes) + ": " + std::string(what)};
  }

  // One event from its brace on. Strings are skipped as strings, so braces in names do no harm.
  Status ScanEvent(size_t begin) {
    event_ = Event{begin - 2, 0, fixture_.values.size(), 0, 0};
    phase_ = category_ = process_ = name_ = time_ = duration_ = flow_id_ = {};
    size_t depth = 0;
    bool in_args = false;
    std::string_view key;
    for (size_t pos = begin; pos < text_.size();) {
      const char c = text_[pos];
      const bool wanted = depth == 1 || (depth == 2 && in_args);
      if (c == '{' || c == '[') {
        if (++depth == 2) in_args = c == '{' && key == "args";
        ++pos;
      } else if (c == '}' || c == ']') {
        ++pos;
        if (--depth == 0) return FinishEvent(pos);
      } else if (c == '"') {
        const size_t end = StringEnd(pos);
        const bool is_key = text_.substr(end, 1) == ":";
        const std::string_view token = text_.substr(pos, end - pos);
        if (is_key && wanted) key = token.substr(1, token.size() - 2);
        if (!is_key && wanted) TakeValue(depth, key, token);
        pos = end;
      } else if (c == '-' || (c >= '0' && c <= '9')) {
        const size_t end = std::min(text_.find_first_not_of("+-.0123456789eE", pos), text_.size());
        if (wanted) TakeValue(depth, key, text_.substr(pos, end - pos));
        pos = end;
      } else {
        ++pos;
      }
    }
    return At(begin, "the file ends inside this event");
  }

  size_t StringEnd(size_t quote) const {
    for (size_t pos = quote + 1; pos < text_.size(); ++pos) {
      if (text_[pos] == '\\') {
        ++pos;
      } else if (text_[pos] == '"') {
        return pos + 1;
      }
    }
    return text_.size();
  }

  void TakeValue(size_t depth, std::string_view key, std::string_view value) {
    if (depth == 2) {
      for (const IdKey& id : kIdKeys) {
        if (key == id.key) return AddId(value, id.shift, id.zero_is_none);
      }
      return;
    }
    if (key == "ph") phase_ = value;
    if (key == "cat") category_ = value;
    if (key == "pid") process_ = value;
    if (key == "id") {
      flow_id_ = value;
      AddId(value, kFirstFlow, false);  // FinishEvent knows the category
    }
    if (key == "ts") {
      time_ = value;
      fixture_.values.push_back({OffsetOf(value), 0, 0, kTime});
    }
    if (key == "dur") duration_ = value;
    if (key == "name") {
      name_ = value;
      const std::string_view bare = value.substr(1);
      if (bare.starts_with(kStepName)) {
        AddId(bare.substr(kStepName.size(), bare.size() - kStepName.size() - 1), kStep, false);
      }
    }
  }

  uint64_t OffsetOf(std::string_view part) const {
    return static_cast<uint64_t>(part.data() - text_.data());
  }

  // Markers, negative numbers and texts stay as they are.
  void AddId(std::string_view value, Shift shift, bool zero_is_none) {
    uint64_t id = 0;
    const auto [stop, error] = std::from_chars(value.data(), value.data() + value.size(), id);
    if (error != std::errc() || stop != value.data() + value.size() || id >= kIdMax) return;
    if (id == 0 && zero_is_none) return;
    fixture_.values.push_back({OffsetOf(value), id, static_cast<uint8_t>(value.size()), shift});
  }

  Status FinishEvent(size_t end) {
    event_.end_bytes = end;
    const std::optional<Number> time = ParseMicroseconds(time_);
    if (!time) return At(event_.begin_bytes, "ts is no plain decimal number that is not negative");
    event_.start_ns = time->ns;
    int64_t end_ns = time->ns;
    if (const std::optional<Number> duration = ParseMicroseconds(duration_)) end_ns += duration->ns;
    capture_start_ns_ = std::min(capture_start_ns_, time->ns);
    capture_end_ns_ = std::max(capture_end_ns_, end_ns);

    // What describes the capture as a whole: metadata, its span, its start and end marks.
    const bool mark = phase_ == "\"i\"" && process_.starts_with('"');
    if (mark || phase_ == "\"M\"" || category_ == "\"Trace\"") return FinishOnce(*time);
    for (size_t i = event_.first_slot; i < fixture_.values.size(); ++i) {
      ArgsColumn& column = fixture_.values[i];
      if (column.shift == kTime) SetTime(column, *time);
      if (column.shift == kFirstFlow) {
        const std::optional<Shift> flow = FlowShift();
        if (!flow) return At(event_.begin_bytes, "more categories of flows than it can hold");
        column.shift = *flow;
      }
      if (column.shift == kTime) continue;
      Range& range = ranges_[column.shift];
      range.low = std::min(range.low, column.value);
      range.high = std::max(range.high, column.value);
    }
    if (!flow_id_.empty() && flow_id_.front() == '"') {
      return At(OffsetOf(flow_id_), "an id is a text: it cannot be shifted");
    }
    event_.end_slot = fixture_.values.size();
    fixture_.repeated.push_back(event_);
    return {};
  }

  // The span grows with the capture and its end mark moves; all else about it stays.
  Status FinishOnce(const Number& time) {
    fixture_.values.resize(event_.first_slot);
    if (category_ == "\"Trace\"") {
      if (const std::optional<Number> duration = ParseMicroseconds(duration_)) {
        fixture_.values.push_back({OffsetOf(duration_), 0, 0, kTime});
        SetTime(fixture_.values.back(), *duration);
      }
    } else if (name_ == "\"Record Window End\"") {
      fixture_.values.push_back({OffsetOf(time_), 0, 0, kTime});
      SetTime(fixture_.values.back(), time);
    }
    event_.end_slot = fixture_.values.size();
    fixture_.once.push_back(event_);
    return {};
  }

  static void SetTime(ArgsColumn& column, const Number& number) {
    column.value = number.integer;
    column.digits = static_cast<uint8_t>(number.integer_digits);
  }

  // Flows from CPU to GPU are numbered by correlation.
  std::optional<Shift> FlowShift() {
    if (category_ == "\"ac2g\"" || category_ == "\"async_cpu_to_gpu\"") return kCorrelation;
    auto known = std::find(flow_categories_.begin(), flow_categories_.end(), category_);
    if (known == flow_categories_.end()) {
      if (flow_categories_.size() == kFlowCategoriesMax) return {};
      known = flow_categories_.insert(known, category_);
    }
    return static_cast<Shift>(kFirstFlow + (known - flow_categories_.begin()));
  }

  Status SetSteps() {
    for (size_t i = 0; i < kShifts; ++i) {
      if (ranges_[i].high >= ranges_[i].low) {
        fixture_.step[i] = ranges_[i].high - ranges_[i].low + 1;
      }
    }
    const int64_t length_ms = (capture_end_ns_ - capture_start_ns_ + 999'999) / 1'000'000 + 1;
    fixture_.step[kTime] = static_cast<uint64_t>(length_ms) * 1000;  // us: fractions stay
    return {};
  }

  struct Range {
    uint64_t low = UINT64_MAX;
    uint64_t high = 0;
  };

  Fixture& fixture_;
  const std::string_view text_;
  std::array<Range, kShifts> ranges_;
  std::vector<std::string_view> flow_categories_;
  int64_t capture_start_ns_ = INT64_MAX;
  int64_t capture_end_ns_ = 0;
  Event event_{};  // of the event being scanned; values with their quotes
  std::string_view phase_, category_, process_, name_, time_, duration_, flow_id_;
};

struct CloseGzip {
  void operator()(gzFile file) const { gzclose_r(file); }
};

Status ReadFixture(const fs::path& path, std::string& text) {
  const std::unique_ptr<gzFile_s, CloseGzip> file(gzopen(path.c_str(), "rb"));
  if (!file) return {std::strerror(errno)};
  for (;;) {
    const size_t used = text.size();
    if (used >= kFixtureBytesMax) return {"longer than 1 GiB; a smaller fixture is needed"};
    text.resize(used + kBlockBytes);
    const int got = gzread(file.get(), text.data() + used, kBlockBytes);
    int code = Z_OK;
    const char* message = gzerror(file.get(), &code);
    if (got < 0 || code != Z_OK) return {message};  // Z_BUF_ERROR: the file ends too early
    text.resize(used + static_cast<size_t>(got));
    if (got == 0) break;
  }
  if (text.starts_with("\xfd"
                       "7zXZ"))
    return {"is xz; unpack it first: xz -dk FILE"};
  return {};
}

// ---- writing ------------------------------------------------------------------------------------

struct CloseFile {
  void operator()(std::FILE* file) const { std::fclose(file); }
};
struct EndDeflate {
  void operator()(z_stream* stream) const {
    deflateEnd(stream);
    delete stream;
  }
};

// The file, plain or one gzip member. Used by one thread at a time.
class PackedFile {
 public:
  // level: nothing for plain JSON.
  Status Open(const fs::path& path, std::string name, std::optional<int> level) {
    file_.reset(std::fopen(path.c_str(), "wbx"));
    if (!file_) return {std::strerror(errno)};
    if (!level) return {};
    auto stream = std::make_unique<z_stream>();
    // As Python's gzip: window 15, memLevel 8, header with the name; but no time, so that the same
    // command makes the same bytes.
    if (deflateInit2(stream.get(), *level, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY) != Z_OK) {
      return {"zlib cannot start"};
    }
    stream_.reset(stream.release());
    name_ = std::move(name);
    header_.name = reinterpret_cast<Bytef*>(name_.data());
    header_.os = 255;
    if (deflateSetHeader(stream_.get(), &header_) != Z_OK) return {"zlib refuses the header"};
    packed_.resize(kBlockBytes);
    return {};
  }

  Status Write(std::string& block, bool last) {
    if (!stream_) return Put(block.data(), block.size());
    stream_->next_in = reinterpret_cast<Bytef*>(block.data());
    stream_->avail_in = static_cast<uInt>(block.size());
    do {
      stream_->next_out = packed_.data();
      stream_->avail_out = static_cast<uInt>(packed_.size());
      if (deflate(stream_.get(), last ? Z_FINISH : Z_NO_FLUSH) == Z_STREAM_ERROR) {
        return {"zlib failed"};
      }
      const size_t made = packed_.size() - stream_->avail_out;
      if (Status status = Put(packed_.data(), made); !status.ok()) return status;
    } while (stream_->avail_out == 0);
    return {};
  }

  Status Close() {
    if (std::fclose(file_.release()) != 0) return {std::strerror(errno)};
    return {};
  }

  uint64_t bytes() const { return bytes_; }

 private:
  Status Put(const void* data, size_t size) {
    if (std::fwrite(data, 1, size, file_.get()) != size) return {std::strerror(errno)};
    bytes_ += size;
    return {};
  }

  std::unique_ptr<std::FILE, CloseFile> file_;
  std::unique_ptr<z_stream, EndDeflate> stream_;
  gz_header header_{};
  std::string name_;
  std::vector<Bytef> packed_;
  uint64_t bytes_ = 0;
};

// Collects text into blocks; a thread of its own packs and writes them. Append waits while
// kQueueBlocksMax blocks are under way.
class OutputQueue {
 public:
  explicit OutputQueue(PackedFile& file) : file_(file), thread_([this] { Run(); }) {
    block_.reserve(kBlockBytes);
  }
  OutputQueue(const OutputQueue&) = delete;
  OutputQueue& operator=(const OutputQueue&) = delete;
  ~OutputQueue() {
    if (thread_.joinable()) (void)Finish();
  }

  void Append(std::string_view text) {
    bytes_ += text.size();
    while (text.size() > kBlockBytes - block_.size()) {
      const size_t fits = kBlockBytes - block_.size();
      block_.append(text.substr(0, fits));
      text.remove_prefix(fits);
      Push();
    }
    block_.append(text);
  }

  bool failed() {
    const std::lock_guard lock(mutex_);
    return !status_.ok();
  }
  uint64_t bytes() const { return bytes_; }

  Status Finish() {
    Push();
    {
      const std::lock_guard lock(mutex_);
      closed_ = true;
    }
    changed_.notify_all();
    thread_.join();
    return status_;
  }

 private:
  void Push() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return full_.size() < kQueueBlocksMax || !status_.ok(); });
    if (status_.ok()) full_.push_back(std::move(block_));
    block_ = {};
    if (!empty_.empty()) {
      block_ = std::move(empty_.back());
      empty_.pop_back();
    }
    lock.unlock();
    changed_.notify_all();
    block_.clear();
    block_.reserve(kBlockBytes);
  }

  void Run() {
    for (bool last = false; !last;) {
      std::unique_lock lock(mutex_);
      changed_.wait(lock, [this] { return closed_ || full_.size() > 1; });
      last = full_.size() <= 1;  // so closed_; the last block ends the gzip member
      std::string block = full_.empty() ? std::string() : std::move(full_.front());
      if (!full_.empty()) full_.pop_front();
      lock.unlock();
      changed_.notify_all();
      Status status = file_.Write(block, last);
      lock.lock();
      empty_.push_back(std::move(block));
      if (status.ok()) continue;
      status_ = std::move(status);
      full_.clear();
      lock.unlock();
      changed_.notify_all();
      return;
    }
  }

  PackedFile& file_;
  std::string block_;  // the producer's
  uint64_t bytes_ = 0;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::string> full_;
  std::vector<std::string> empty_;
  bool closed_ = false;
  Status status_;
  std::thread thread_;  // last: starts when all else is there
};

// ---- repeating ----------------------------------------------------------------------------------

size_t DecimalDigits(uint64_t value) {
  size_t digits = 1;
  for (; value >= 10; value /= 10) ++digits;
  return digits;
}

struct TraceTotals {
  uint64_t repeats = 0;      // whole ones
  uint64_t part_events = 0;  // of the one that was cut
  uint64_t events = 0;
};

class TraceMaker {
 public:
  TraceMaker(const Fixture& fixture, OutputQueue& out) : fixture_(fixture), out_(out) {}

  TraceTotals Make(uint64_t size_bytes, bool cut) {
    TraceTotals totals;
    out_.Append(fixture_.head);
    uint64_t repeat = 0;
    for (;; ++repeat) {
      const Deltas deltas = DeltasOf(repeat);
      const uint64_t needed = out_.bytes() + ClosingBytes(deltas);
      if ((needed >= size_bytes && (cut || repeat > 0)) || out_.failed()) break;
      const uint64_t left = size_bytes - std::min(needed, size_bytes);
      if (cut && BytesOf(fixture_.repeated, deltas) > left) {
        totals.part_events = AppendUntil(CutTime(deltas, left), deltas);
        break;
      }
      totals.events += AppendUntil(INT64_MAX, deltas);
      ++totals.repeats;
    }
    totals.events += totals.part_events + fixture_.once.size();
    const uint64_t last = totals.part_events > 0 || repeat == 0 ? repeat : repeat - 1;
    for (const Event& event : fixture_.once) AppendEvent(event, DeltasOf(last));
    out_.Append(fixture_.rest);
    return totals;
  }

 private:
  Deltas DeltasOf(uint64_t repeat) const {
    Deltas deltas{};
    for (size_t i = 0; i < kShifts; ++i) deltas[i] = fixture_.step[i] * repeat;
    return deltas;
  }

  uint64_t BytesOf(const Event& event, const Deltas& deltas) const {
    uint64_t bytes = event.end_bytes - event.begin_bytes + 2;  // and the comma and the line end
    for (size_t i = event.first_slot; i < event.end_slot; ++i) {
      const ArgsColumn& column = fixture_.values[i];
      bytes += DecimalDigits(column.value + deltas[column.shift]) - column.digits;
    }
    return bytes;
  }

  uint64_t BytesOf(const std::vector<Event>& events, const Deltas& deltas) const {
    uint64_t bytes = 0;
    for (const Event& event : events) bytes += BytesOf(event, deltas);
    return bytes;
  }

  uint64_t ClosingBytes(const Deltas& deltas) const {
    return BytesOf(fixture_.once, deltas) + fixture_.rest.size();
  }

  // The start of the last event, in order of time, that still is needed to fill `left` bytes.
  int64_t CutTime(const Deltas& deltas, uint64_t left) const {
    std::vector<const Event*> by_time;
    for (const Event& event : fixture_.repeated) by_time.push_back(&event);
    std::sort(by_time.begin(), by_time.end(),
              [](const Event* a, const Event* b) { return a->start_ns < b->start_ns; });
    for (const Event* event : by_time) {
      const uint64_t bytes = BytesOf(*event, deltas);
      if (bytes >= left) return event->start_ns;
      left -= bytes;
    }
    return INT64_MAX;
  }

  uint64_t AppendUntil(int64_t last_start_ns, const Deltas& deltas) {
    uint64_t events = 0;
    for (const Event& event : fixture_.repeated) {
      if (event.start_ns > last_start_ns) continue;
      AppendEvent(event, deltas);
      ++events;
    }
    return events;
  }

  void AppendEvent(const Event& event, const Deltas& deltas) {
    if (!first_) out_.Append(",\n");
    first_ = false;
    const std::string_view text = fixture_.text;
    uint64_t pos = event.begin_bytes;
    for (size_t i = event.first_slot; i < event.end_slot; ++i) {
      const ArgsColumn& column = fixture_.values[i];
      out_.Append(text.substr(pos, column.offset_bytes - pos));
      std::array<char, 20> digits;
      const auto [end, error] = std::to_chars(digits.data(), digits.data() + digits.size(),
                                              column.value + deltas[column.shift]);
      out_.Append({digits.data(), end});  // 20 places hold any uint64_t
      pos = column.offset_bytes + column.digits;
    }
    out_.Append(text.substr(pos, event.end_bytes - pos));
  }

  const Fixture& fixture_;
  OutputQueue& out_;
  bool first_ = true;
};

// ---- the command --------------------------------------------------------------------------------

struct Options {
  fs::path from, out;
  uint64_t size_bytes = 0;
  int level = 9;
  bool plain = false, cut = false, help = false, version = false;
};

// "2.5G" -> 2500000000, exactly.
std::optional<uint64_t> ParseSize(std::string_view text) {
  uint64_t unit = 1;
  if (text.ends_with('B')) text.remove_suffix(1);
  const bool binary = text.ends_with('i');
  if (binary) text.remove_suffix(1);
  const size_t power = text.empty() ? 4 : std::string_view("KMGT").find(text.back());
  if (power < 4) {
    for (size_t i = 0; i <= power; ++i) unit *= binary ? 1024 : 1000;
    text.remove_suffix(1);
  } else if (binary) {
    return {};
  }
  const size_t point = std::min(text.find('.'), text.size());
  const std::string_view decimals = text.substr(std::min(point + 1, text.size()));
  uint64_t scale = 1;
  for (size_t i = 0; i < decimals.size(); ++i) scale *= 10;
  std::string digits(text.substr(0, point));
  digits += decimals;
  uint64_t value = 0;
  const char* end = digits.data() + digits.size();
  const auto [stop, error] = std::from_chars(digits.data(), end, value);
  if (error != std::errc() || stop != end || decimals.size() > 6) return {};
  if (value > UINT64_MAX / unit) return {};
  const uint64_t bytes = value * unit / scale;
  if (bytes == 0 || bytes > kOutputBytesMax) return {};
  return bytes;
}

Status ParseOptions(const std::vector<std::string_view>& words, Options& options) {
  for (size_t i = 0; i < words.size(); ++i) {
    const std::string_view word = words[i];
    const std::string quoted(word);
    if (word == "--plain") {
      options.plain = true;
    } else if (word == "--cut") {
      options.cut = true;
    } else if (word == "--help" || word == "-h") {
      options.help = true;
    } else if (word == "--version") {
      options.version = true;
    } else if (word != "--from" && word != "--out" && word != "--size" && word != "--level") {
      return {"unknown option " + quoted};
    } else if (i + 1 == words.size()) {
      return {quoted + " needs a value"};
    } else if (const std::string value(words[++i]); word == "--from") {
      options.from = value;
    } else if (word == "--out") {
      options.out = value;
    } else if (word == "--level") {
      if (value.size() != 1 || value[0] < '0' || value[0] > '9') {
        return {"--level is 0 to 9, not " + value};
      }
      options.level = value[0] - '0';
    } else {
      const std::optional<uint64_t> size_bytes = ParseSize(value);
      if (!size_bytes) return {"--size is a number such as 12M or 2.5G up to 10T, not " + value};
      options.size_bytes = *size_bytes;
    }
  }
  if (options.help || options.version) return {};
  if (options.from.empty()) return {"--from is missing: the trace to repeat"};
  if (options.out.empty()) return {"--out is missing: the file to write"};
  if (options.size_bytes == 0) return {"--size is missing: bytes of JSON, such as 2.5G"};
  if (options.plain && options.out.extension() == ".gz") {
    return {"--plain writes JSON, but " + options.out.string() + " ends in .gz"};
  }
  std::error_code ignored;
  if (fs::equivalent(options.from, options.out, ignored)) return {"--out is the fixture itself"};
  // The rename at the end would put a file in the place of a device, a pipe or a link.
  const fs::file_type type = fs::symlink_status(options.out, ignored).type();
  if (type != fs::file_type::not_found && type != fs::file_type::regular) {
    return {"--out " + options.out.string() + " exists and is no plain file"};
  }
  return {};
}

Status Prefixed(const fs::path& path, Status status) {
  if (!status.ok()) status.error = path.string() + ": " + status.error;
  return status;
}

// Writes the trace to `partial`.
Status WriteTrace(const Options& options, const fs::path& partial, const Fixture& fixture) {
  const auto start = std::chrono::steady_clock::now();
  std::string name = options.out.filename().string();
  if (name.ends_with(".gz")) name.resize(name.size() - 3);
  PackedFile file;
  const std::optional<int> level = options.plain ? std::nullopt : std::optional(options.level);
  if (Status status = file.Open(partial, name, level); !status.ok()) return status;
  OutputQueue out(file);
  const TraceTotals totals = TraceMaker(fixture, out).Make(options.size_bytes, options.cut);
  if (Status status = out.Finish(); !status.ok()) return status;
  if (Status status = file.Close(); !status.ok()) return status;
  const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;
  std::printf("json_bytes %ju\ngz_bytes %ju\nevents %ju\nrepeats %ju\npart_events %ju\n",
              uintmax_t{out.bytes()}, uintmax_t{file.bytes()}, uintmax_t{totals.events},
              uintmax_t{totals.repeats}, uintmax_t{totals.part_events});
  std::printf("seconds %.3f\nmb_per_s %.1f\n", seconds.count(),
              static_cast<double>(out.bytes()) / 1e6 / seconds.count());
  return {};
}

Status Run(const Options& options) {
  Fixture fixture;
  Status status = ReadFixture(options.from, fixture.text);
  if (status.ok()) status = FixtureScanner(fixture).Scan();
  if (!status.ok()) return Prefixed(options.from, status);

  fs::path partial = options.out;
  partial += ".partial-" + std::to_string(std::random_device{}());
  status = WriteTrace(options, partial, fixture);
  std::error_code error;
  if (status.ok()) {
    fs::rename(partial, options.out, error);
    if (error) status = {error.message()};
  }
  if (!status.ok()) fs::remove(partial, error);
  return Prefixed(options.out, status);
}

}  // namespace

int main(int argc, char** argv) {
  Options options;
  const std::vector<std::string_view> words(argv + 1, argv + argc);
  if (const Status status = ParseOptions(words, options); !status.ok()) {
    std::fprintf(stderr, "make_trace: %s\n%s", status.error.c_str(), kUsage.data());
    return 2;
  }
  if (options.help) {
    std::fputs(kUsage.data(), stdout);
  } else if (options.version) {
    std::printf("make_trace %d\n", kMakerVersion);
  } else if (const Status status = Run(options); !status.ok()) {
    std::fprintf(stderr, "make_trace: %s\n", status.error.c_str());
    return 1;
  }
  return std::fflush(stdout) == 0 ? 0 : 1;
}
