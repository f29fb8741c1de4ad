#include "serve/trace_site.h"

#include <fmt/format.h>
#include <xxhash.h>

#include <algorithm>
#include <utility>

#include "serve/cut_request.h"
#include "serve/metrics_text.h"
#include "serve/page_content.h"
#include "serve/query_list.h"
#include "serve/report_request.h"
#include "serve/site_page.h"
#include "serve/table_query.h"
#include "tracedb/base/cores.h"
#include "tracedb/report/report_page.h"
#include "tracedb/text/gzip_text.h"
#include "tracedb/text/output_stream.h"

namespace tracedb {
namespace {

constexpr size_t kCacheBytes = 16 << 20;
constexpr int kTokensWaitingMax = 8;
constexpr std::string_view kTables = "tables/";

// More than processors, so that a few long queries leave some for short ones.
int Slots() { return std::max(8, 4 * static_cast<int>(CoresToUse())); }

// What a result could not be made for. The database's trouble is not the request's fault.
WebAnswer Failed(const Error& error, bool is_own_sql = false) {
  const bool is_asked_wrongly =
      error.kind == ErrorKind::kUsage || (is_own_sql && error.kind == ErrorKind::kQuery);
  if (is_asked_wrongly) return PlainAnswer(400, error.what, error.advice);
  return BusyAnswer(error.what, error.advice);
}

// Why nothing was made; others who ask the same may have more luck.
SharedAnswers::Made Stopped(const StopReasons& reasons) {
  return {reasons.Answer(),
          reasons.is_of_one_client() ? SharedAnswers::For::kNobody : SharedAnswers::For::kOne};
}

// What is wrong with a request is so for all who ask the same.
SharedAnswers::Made Refused(WebAnswer answer) {
  const bool is_for_all = answer.status < 500;
  return {std::move(answer), is_for_all ? SharedAnswers::For::kAll : SharedAnswers::For::kOne};
}

// Those that a person may have meant.
Result<std::string> NearTables(SqliteDb& db, const SiteAddress& address) {
  TRACEDB_ASSIGN(tables, ListTables(db));
  std::vector<std::string> names;
  for (const TableName& table : tables) {
    if (!table.name.starts_with('_')) names.push_back(std::string(kTables) + table.name);
  }
  return NearAddress(address, names, "/ lists them");
}

bool IsForSpreadsheets(Format format) { return format == Format::kCsv || format == Format::kTsv; }

}  // namespace

TraceSite::TraceSite(const ServeOptions& options, const QueryCatalog& catalog,
                     const std::atomic<bool>& stop)
    : options_(options),
      catalog_(catalog),
      stop_(stop),
      guard_(options.host, options.allowed_hosts, options.token,
             std::clamp(options.connections_max / 4, 1, kTokensWaitingMax)),
      pool_(options.database, options.on_open),
      slots_(Slots()),
      cache_(kCacheBytes) {}

void TraceSite::Note(const std::string& text) const {
  if (options_.on_note) options_.on_note(text);
}

StopReasons TraceSite::ReasonsFor(const WebRequest& request) const {
  return {stop_, request.begun, std::chrono::seconds(options_.seconds_max), request.is_gone,
          [this] { return pool_.IsWriterWaiting(); }};
}

WebAnswer TraceSite::Answer(const WebRequest& request) {
  const auto stop = [&] { return stop_.load() || (request.is_gone && request.is_gone()); };
  if (auto refused = guard_.Refuse(request, stop); refused.has_value()) return std::move(*refused);
  const std::string& path = request.path;
  if (path == "/") return AnswerPage(request);
  if (path == "/report") return AnswerReport(request);
  if (path == "/cut.json.gz") return AnswerCut(request);
  if (path == "/healthz") return AnswerHealth();
  if (path == "/metrics") return AnswerMetrics(request);
  const auto address = ReadAddress(path);
  if (!address.has_value()) {
    return PlainAnswer(404, "there is nothing at this address", NearPath(path, QueryNames()));
  }
  if (address->name == "sql") return AnswerSql(request, *address);
  if (address->name == "queries") return AnswerList(request, address->format);
  return address->name.starts_with(kTables) ? AnswerTable(request, *address)
                                            : AnswerQuery(request, *address);
}

WebAnswer TraceSite::AnswerHealth() {
  const auto version = pool_.Version();
  return version.ok() ? PlainAnswer(200, "ok") : Failed(version.error());
}

std::vector<std::string> TraceSite::QueryNames() const {
  std::vector<std::string> names = {"queries"};  // the list of them
  for (const QueryDoc& doc : catalog_.queries()) names.push_back(doc.name);
  return names;
}

WebAnswer TraceSite::AnswerQuery(const WebRequest& request, const SiteAddress& address) {
  Asked asked;
  asked.address = address;
  asked.doc = catalog_.Find(address.name);
  if (asked.doc == nullptr || asked.doc->name != address.name) {
    return PlainAnswer(404, "there is no such query",
                       NearAddress(address, QueryNames(), "/queries.csv lists those there are"));
  }
  return AnswerResult(request, std::move(asked));
}

// SQL that somebody wrote; it only reads, as every query here.
WebAnswer TraceSite::AnswerSql(const WebRequest& request, const SiteAddress& address) {
  const std::string_view sql = request.Param("sql");
  if (sql.find_first_not_of(" \t\r\n") == std::string_view::npos) {
    return PlainAnswer(400, "there is no SQL", "ask for /sql.csv?sql=SELECT...");
  }
  auto doc = ParseQueryDoc("SQL", sql);
  if (!doc.ok()) return Failed(doc.error());
  return AnswerResult(request, {address, "", &doc.value(), true, {}, {}});
}

WebAnswer TraceSite::AnswerTable(const WebRequest& request, const SiteAddress& address) {
  Asked asked;
  asked.address = address;
  asked.table = address.name.substr(kTables.size());
  return AnswerResult(request, std::move(asked));
}

Result<std::string> TraceSite::EtagOf(const WebRequest& request, bool gzip, std::string_view host) {
  TRACEDB_TRY(
      pool_.LetWriterIn([&] { return stop_.load() || (request.is_gone && request.is_gone()); }));
  TRACEDB_ASSIGN(state, pool_.Version());
  state += fmt::format("\n{} {} {} {}\n{}", gzip, options_.raw_text, options_.rows_max, host,
                       request.path);
  // Lengths first: no two lists of parameters make one text.
  for (const auto& [name, text] : request.params) {
    state += fmt::format("\n{} {} {}={}", name.size(), text.size(), name, text);
  }
  const XXH128_hash_t hash = XXH3_128bits(state.data(), state.size());
  return fmt::format("\"{:016x}{:016x}\"", hash.high64, hash.low64);
}

std::optional<WebAnswer> TraceSite::Known(const WebRequest& request, const std::string& etag) {
  if (HasEtag(request.if_none_match, etag)) {
    WebAnswer unchanged;
    unchanged.status = 304;
    unchanged.headers = {
        {"ETag", etag}, {"Cache-Control", "no-cache"}, {"Vary", "Accept-Encoding"}};
    return unchanged;
  }
  const auto kept = cache_.Find(etag);
  if (kept == nullptr) return std::nullopt;
  return *kept;
}

WebAnswer TraceSite::Keep(const std::string& etag, WebAnswer answer) {
  answer.headers.emplace_back("ETag", etag);
  answer.headers.emplace_back("Cache-Control", "no-cache");
  answer.headers.emplace_back("Vary", "Accept-Encoding");
  if (!answer.stream) cache_.Keep(etag, answer);
  return answer;
}

WebAnswer TraceSite::Shared(const WebRequest& request, const std::string& etag,
                            const std::function<SharedAnswers::Made()>& make) {
  if (auto known = Known(request, etag); known.has_value()) return std::move(*known);
  StopReasons reasons = ReasonsFor(request);
  auto answer = shared_.Get(
      etag, [&reasons] { return reasons.Check(); },
      [&]() -> SharedAnswers::Made {
        // It may have become known while this thread was on its way here.
        if (auto kept = cache_.Find(etag)) return {*kept, SharedAnswers::For::kAll};
        return make();
      });
  return answer.has_value() ? std::move(*answer) : reasons.Answer();
}

WebAnswer TraceSite::AnswerResult(const WebRequest& request, Asked asked) {
  auto result =
      ReadResultRequest(request, asked.doc == nullptr, options_.raw_text, asked.address.format);
  if (!result.ok()) return Failed(result.error());
  asked.result = std::move(result).value();
  if (options_.rows_max > 0) asked.result.form.rows_max = options_.rows_max;
  auto etag = EtagOf(request, asked.result.form.gzip, "");
  if (!etag.ok()) return Failed(etag.error());
  asked.etag = std::move(etag).value();
  return Shared(request, asked.etag, [&] { return Run(request, asked); });
}

// An error of kNoTrace: the table is not there. What comes back may have been stopped already.
Result<std::shared_ptr<RunningResult>> TraceSite::Start(const WebRequest& request,
                                                        const Asked& asked, WebAnswer& answer) {
  TRACEDB_ASSIGN(lease, pool_.Borrow());
  const StopReasons reasons = ReasonsFor(request);
  auto running =
      std::make_shared<RunningResult>(std::move(lease), slots_, reasons, asked.result.form);
  const auto prepare = [&]() -> Status {
    if (asked.doc != nullptr) return running->Prepare(*asked.doc, asked.result.params);
    TRACEDB_ASSIGN(is_there, HasTable(running->db(), asked.table));
    if (!is_there) {
      TRACEDB_ASSIGN(near, NearTables(running->db(), asked.address));
      return Error{ErrorKind::kNoTrace, "there is no such table", near};
    }
    TRACEDB_ASSIGN(doc, MakeTableQuery(running->db(), asked.table, asked.result.order));
    TRACEDB_TRY(running->Prepare(doc, asked.result.params));
    if (!IsForSpreadsheets(asked.result.form.format)) return Done{};
    TRACEDB_ASSIGN(rows,
                   CountAskedRows(running->db(), asked.table, asked.result.params, kExcelRowsMax));
    if (rows < kExcelRowsMax) return Done{};
    answer.headers.emplace_back("X-Tracedb-Warning",
                                fmt::format("more rows than the {} of an Excel sheet, which leaves "
                                            "the others out: use limit and offset",
                                            kExcelRowsMax));
    return Done{};
  };
  const Status prepared = prepare();
  if (prepared.ok()) TRACEDB_TRY(running->NameMissingRanks(answer));
  if (!prepared.ok() && running->stopped().reason().empty()) return prepared.error();
  return running;
}

SharedAnswers::Made TraceSite::Run(const WebRequest& request, const Asked& asked) {
  WebAnswer answer;
  auto started = Start(request, asked, answer);
  if (!started.ok()) {
    const Error error = WithFormParams(started.error());
    if (error.kind != ErrorKind::kNoTrace) return Refused(Failed(error, asked.is_own_sql));
    return Refused(PlainAnswer(404, error.what, error.advice));
  }
  const std::shared_ptr<RunningResult> running = std::move(started).value();
  if (!running->stopped().reason().empty()) return Stopped(running->stopped());
  const auto whole = running->RunHead();
  if (!whole.ok()) {
    return running->stopped().reason().empty() ? Refused(Failed(whole.error(), asked.is_own_sql))
                                               : Stopped(running->stopped());
  }
  if (running->is_cut()) {
    return Refused(
        PlainAnswer(400, fmt::format("this is more than {} rows (--max-rows)", running->rows()),
                    "ask for fewer, with a parameter or with limit and offset of a table"));
  }
  const ResultForm& form = asked.result.form;
  answer.media_type = FormatMediaType(form.format);
  if (form.gzip) answer.headers.emplace_back("Content-Encoding", "gzip");
  const bool shown = form.format == Format::kJson || form.format == Format::kNdjson;
  answer.headers.emplace_back("Content-Disposition",
                              fmt::format("{}; filename=\"{}\"", shown ? "inline" : "attachment",
                                          FileName(asked.address.name, FormatName(form.format))));
  if (!whole.value()) return {StreamOf(running, asked, std::move(answer))};
  answer.body = running->TakeHead();
  return {Keep(asked.etag, std::move(answer)), SharedAnswers::For::kAll};
}

WebAnswer TraceSite::StreamOf(std::shared_ptr<RunningResult> running, const Asked& asked,
                              WebAnswer answer) {
  answer.give_up = [running] { return running->ShouldStop(); };
  answer.stream =
      [this, running = std::move(running),
       name = fmt::format("{}.{}", asked.address.name, FormatName(asked.address.format)),
       is_sheet = IsForSpreadsheets(asked.result.form.format)](const WebAnswer::Write& write) {
        const Status sent = running->SendRest(write);
        if (sent.ok()) {
          if (is_sheet && running->rows() >= kExcelRowsMax) {
            Note(fmt::format("/{}: {} rows, which is more than an Excel sheet shows", name,
                             running->rows()));
          }
          return true;
        }
        if (sent.error().kind != ErrorKind::kClosed) {
          Note(fmt::format("/{}: broken off after {} rows: {}", name, running->rows(),
                           sent.error().what));
        }
        return false;
      };
  return Keep(asked.etag, std::move(answer));
}

WebAnswer TraceSite::AnswerList(const WebRequest& request, Format format_of_address) {
  auto result = ReadResultRequest(request, false, options_.raw_text, format_of_address);
  if (!result.ok()) return Failed(result.error());
  StringOutput text;
  SinkOptions options;
  options.header = result.value().form.header;
  options.safe_text = result.value().form.safe_text;
  options.long_as_text = result.value().form.long_as_text;
  options.crlf = true;
  const Format format = result.value().form.format;
  if (result.value().form.byte_order_mark) (void)text.Write("\xEF\xBB\xBF").ok();
  const Status written = WriteQueryList(catalog_, *MakeSink(format, options, text));
  const Status flushed = text.Flush();
  if (!written.ok() || !flushed.ok()) return BusyAnswer("the list could not be written");
  WebAnswer answer;
  answer.media_type = FormatMediaType(format);
  answer.body = text.text();
  answer.headers.emplace_back("Cache-Control", "no-cache");
  return answer;
}

WebAnswer TraceSite::AnswerHtml(const WebRequest& request, std::string_view host,
                                const MakeHtml& make) {
  const bool gzip = AcceptsGzip(request.accept_encoding);
  const auto etag = EtagOf(request, gzip, host);
  if (!etag.ok()) return Failed(etag.error());
  return Shared(request, etag.value(), [&] { return RunHtml(request, etag.value(), gzip, make); });
}

SharedAnswers::Made TraceSite::RunHtml(const WebRequest& request, const std::string& etag,
                                       bool gzip, const MakeHtml& make) {
  StopReasons reasons = ReasonsFor(request);
  HeldSlot slot(slots_);
  if (!slot.Take([&reasons] { return reasons.Check(); })) return Stopped(reasons);
  auto lease = pool_.Borrow();
  if (!lease.ok()) return Refused(Failed(lease.error()));
  const auto page = make(lease.value().db(), reasons);
  if (!reasons.reason().empty()) return Stopped(reasons);
  if (!page.ok()) return Refused(Failed(page.error()));
  const std::string policy = page.value().policy + "; frame-ancestors 'none'";
  WebAnswer answer;
  answer.media_type = page.value().media_type;
  answer.headers.emplace_back("Content-Security-Policy", policy);
  answer.body = page.value().text;
  if (gzip) {
    auto packed = GzipText::Whole(answer.body);
    if (!packed.ok()) return Refused(Failed(packed.error()));
    answer.body = std::move(packed).value();
    answer.headers.emplace_back("Content-Encoding", "gzip");
  }
  if (page.value().is_whole) return {Keep(etag, std::move(answer)), SharedAnswers::For::kAll};
  answer.headers.emplace_back("Cache-Control", "no-store");
  return {std::move(answer), SharedAnswers::For::kAll};
}

WebAnswer TraceSite::AnswerPage(const WebRequest& request) {
  // Its links say which name it was asked for by.
  return AnswerHtml(
      request, request.hosts[0], [&](SqliteDb& db, StopReasons& reasons) -> Result<HtmlPage> {
        TRACEDB_ASSIGN(content,
                       GatherPage(db, catalog_, request, [&reasons] { return reasons.Check(); }));
        return HtmlPage{RenderPage(content),
                        "default-src 'none'; style-src 'unsafe-inline'; img-src data:; "
                        "form-action 'self'; base-uri 'none'",
                        content.is_whole};
      });
}

WebAnswer TraceSite::AnswerReport(const WebRequest& request) {
  const auto asked = ReadReportRequest(request, options_.version);
  if (!asked.ok()) return Failed(asked.error());
  const auto make = [&](SqliteDb& db, StopReasons& reasons) -> Result<HtmlPage> {
    db.StopIf([&reasons] { return reasons.Check(); });
    StringOutput text;
    const auto written = WriteReport(db, catalog_, asked.value(), text);
    if (!written.ok()) return written.error();
    TRACEDB_TRY(text.Flush());
    return HtmlPage{text.text(), ReportPolicy(true)};
  };
  return AnswerHtml(request, "", make);
}

WebAnswer TraceSite::AnswerMetrics(const WebRequest& request) {
  const auto make = [&](SqliteDb& db, StopReasons& reasons) -> Result<HtmlPage> {
    db.StopIf([&reasons] { return reasons.Check(); });
    TRACEDB_ASSIGN(text, MetricsText(db, catalog_, options_.version));
    return HtmlPage{std::move(text), "default-src 'none'", true, kMetricsMediaType};
  };
  return AnswerHtml(request, "", make);
}

WebAnswer TraceSite::AnswerCut(const WebRequest& request) {
  auto etag = EtagOf(request, true, "");
  if (!etag.ok()) return Failed(etag.error());
  return Shared(request, etag.value(), [&] {
    StopReasons reasons = ReasonsFor(request);
    HeldSlot slot(slots_);
    SharedAnswers::Made made = MakeCut(options_, request, slot, reasons);
    if (made.answer.status == 200) made.answer = Keep(etag.value(), std::move(made.answer));
    return made;
  });
}

}  // namespace tracedb
