#include "serve/cut_request.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "tracedb/query/run/query_database.h"
#include "tracedb/text/near_name.h"
#include "tracedb/text/output_stream.h"
#include "tracedb/text/result_text.h"

namespace tracedb {
namespace {

// What Perfetto opens in some seconds; a step of 64 ranks has as many.
constexpr int64_t kEventsMax = 500'000;
constexpr double kMsMax = 1e12;

template <typename Number>
Result<Number> ReadNumber(std::string_view name, std::string_view text) {
  Number value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error == std::errc() && end == text.data() + text.size()) return value;
  return Error{ErrorKind::kUsage, fmt::format("{}: a number is wanted", name),
               "as in /cut.json.gz?from=12.5&to=13"};
}

Result<double> ReadMs(const WebRequest& request, std::string_view name) {
  TRACEDB_ASSIGN(ms, ReadNumber<double>(name, request.Param(name)));
  if (std::isfinite(ms) && std::abs(ms) < kMsMax) return ms;
  return Error{ErrorKind::kUsage, fmt::format("{}: this is no time in milliseconds", name), ""};
}

constexpr size_t kBytesMax = 64 << 20;  // packed

// Keeps what comes, up to a bound.
class BoundedOutput : public OutputStream {
 public:
  std::string Take() { return std::move(text_); }

 protected:
  Status WriteThrough(std::string_view bytes) override {
    if (text_.size() + bytes.size() > kBytesMax) {
      return Error{ErrorKind::kUsage, fmt::format("this is more than {} MiB", kBytesMax >> 20),
                   "ask for a shorter time, or use tracedb cut"};
    }
    text_ += bytes;
    return Done{};
  }

 private:
  std::string text_;
};

// A time, run or capture that is not there is the request's fault, too, and so for all who ask.
SharedAnswers::Made Refused(const Error& error) {
  const bool is_asked = error.kind == ErrorKind::kUsage || error.kind == ErrorKind::kInput;
  if (is_asked) return {PlainAnswer(400, error.what, error.advice), SharedAnswers::For::kAll};
  return {BusyAnswer(error.what, error.advice), SharedAnswers::For::kOne};
}

// As a header may have it: one line of plain characters.
std::string HeaderText(const std::vector<std::string>& notes) {
  std::string text;
  for (const std::string& note : notes) {
    if (!text.empty()) text += "; ";
    for (const char c : note) text += c >= ' ' && c <= '~' ? c : '?';
  }
  return text.substr(0, 500);
}

}  // namespace

Result<ServedCut> ReadCutRequest(const WebRequest& request) {
  ServedCut cut;
  const std::vector<std::string> known = {"capture", "from", "incoming", "run", "to", "token"};
  for (const auto& [name, text] : request.params) {
    if (std::ranges::find(known, name) != known.end()) continue;
    const std::vector<std::string> near = NearNames(name, known);
    return Error{ErrorKind::kUsage, fmt::format("there is no parameter '{}'", ShownText(name)),
                 fmt::format("{}{}from, to, run, capture and incoming (0 or 1) are known",
                             DidYouMean(near), near.empty() ? "" : " ")};
  }
  cut.events_max = kEventsMax;
  TRACEDB_ASSIGN(from_ms, ReadMs(request, "from"));
  TRACEDB_ASSIGN(to_ms, ReadMs(request, "to"));
  if (to_ms <= from_ms) return Error{ErrorKind::kUsage, "to: this is not after from", ""};
  cut.from_ms = from_ms;
  cut.to_ms = to_ms;
  for (const auto& [name, text] : request.params) {
    if (name == "from" || name == "to" || name == "token" || text.empty()) continue;
    if (name == "run") {
      cut.run = text;
    } else if (name == "capture") {
      TRACEDB_ASSIGN(capture, ReadNumber<int64_t>(name, text));
      cut.capture = capture;
    } else if (name == "incoming" && (text == "0" || text == "1")) {
      cut.incoming = text == "1";
    } else {
      return Error{ErrorKind::kUsage, "from, to, run, capture and incoming (0 or 1) are known", ""};
    }
  }
  return cut;
}

SharedAnswers::Made MakeCut(const ServeOptions& options, const WebRequest& request, HeldSlot& slot,
                            StopReasons& reasons) {
  if (!options.on_cut) {
    return {PlainAnswer(404, "there is nothing at this address"), SharedAnswers::For::kAll};
  }
  const auto cut = ReadCutRequest(request);
  if (!cut.ok()) return Refused(cut.error());
  const auto should_stop = [&reasons] { return reasons.Check(); };
  const bool is_begun = slot.Take(should_stop);
  BoundedOutput output;
  std::vector<std::string> notes;
  const Status done = is_begun ? options.on_cut(cut.value(), should_stop, output, notes) : Done{};
  if (!reasons.reason().empty()) {
    return {reasons.Answer(),
            reasons.is_of_one_client() ? SharedAnswers::For::kNobody : SharedAnswers::For::kOne};
  }
  if (!done.ok()) {
    const auto db = OpenTraceDatabase(options.database);  // not the request's fault, if that fails
    if (db.ok()) return Refused(done.error());
    return {BusyAnswer(db.error().what, db.error().advice), SharedAnswers::For::kOne};
  }
  WebAnswer answer;
  answer.media_type = "application/gzip";
  answer.headers.emplace_back("Content-Disposition", "attachment; filename=\"cut.json.gz\"");
  if (!notes.empty()) answer.headers.emplace_back("X-Tracedb-Warning", HeaderText(notes));
  answer.body = output.Take();
  return {std::move(answer), SharedAnswers::For::kAll};
}

}  // namespace tracedb
