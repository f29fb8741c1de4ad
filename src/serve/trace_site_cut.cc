// Windows of the database as traces for Perfetto.
#include <fmt/format.h>

#include <string>
#include <utility>
#include <vector>

#include "serve/cut_request.h"
#include "serve/trace_site.h"
#include "tracedb/text/output_stream.h"

namespace tracedb {
namespace {

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

// A time, run or capture that is not there is the request's fault, too.
WebAnswer Failed(const Error& error) {
  const bool is_asked = error.kind == ErrorKind::kUsage || error.kind == ErrorKind::kInput;
  return is_asked ? PlainAnswer(400, error.what, error.advice)
                  : BusyAnswer(error.what, error.advice);
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

WebAnswer TraceSite::AnswerCut(const WebRequest& request) {
  if (!options_.on_cut) return PlainAnswer(404, "there is nothing at this address");
  const auto cut = ReadCutRequest(request);
  if (!cut.ok()) return Failed(cut.error());
  auto etag = EtagOf(request, true, "");
  if (!etag.ok()) return Failed(etag.error());
  return Shared(request, etag.value(), [&] { return RunCut(request, cut.value(), etag.value()); });
}

SharedAnswers::Made TraceSite::RunCut(const WebRequest& request, const ServedCut& cut,
                                      const std::string& etag) {
  using For = SharedAnswers::For;
  StopReasons reasons = ReasonsFor(request);
  const auto should_stop = [&reasons] { return reasons.Check(); };
  HeldSlot slot(slots_);
  const bool is_begun = slot.Take(should_stop);
  BoundedOutput output;
  std::vector<std::string> notes;
  const Status done = is_begun ? options_.on_cut(cut, should_stop, output, notes) : Done{};
  if (!reasons.reason().empty()) {
    return {reasons.Answer(), reasons.is_of_one_client() ? For::kNobody : For::kOne};
  }
  if (!done.ok()) {
    WebAnswer failed = Failed(done.error());
    const bool is_for_all = failed.status < 500;
    return {std::move(failed), is_for_all ? For::kAll : For::kOne};
  }
  WebAnswer answer;
  answer.media_type = "application/gzip";
  answer.headers.emplace_back("Content-Disposition", "attachment; filename=\"cut.json.gz\"");
  if (!notes.empty()) answer.headers.emplace_back("X-Tracedb-Warning", HeaderText(notes));
  answer.body = output.Take();
  return {Keep(etag, std::move(answer)), For::kAll};
}

}  // namespace tracedb
