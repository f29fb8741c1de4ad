// What there is to see under which address: requests become answers. Knows nothing of sockets.
#pragma once

#include <atomic>
#include <functional>
#include <optional>
#include <string>

#include "serve/database_pool.h"
#include "serve/http/request_guard.h"
#include "serve/http/web_message.h"
#include "serve/query_slots.h"
#include "serve/result_cache.h"
#include "serve/result_request.h"
#include "serve/running_result.h"
#include "serve/shared_answers.h"
#include "serve/site_address.h"
#include "tracedb/query/doc/query_catalog.h"
#include "tracedb/serve/serve_command.h"

namespace tracedb {

class TraceSite {
 public:
  // `catalog`, `options` and `stop` must outlive this.
  TraceSite(const ServeOptions& options, const QueryCatalog& catalog,
            const std::atomic<bool>& stop);

  // May be called from many threads. The answer's stream must have gone before this goes.
  WebAnswer Answer(const WebRequest& request);

 private:
  struct Asked {
    SiteAddress address;
    std::string table;              // without `doc`
    const QueryDoc* doc = nullptr;  // of a query, until it is prepared; a table has none
    bool is_own_sql = false;        // of whoever asks: what is wrong with it is the request's fault
    ResultRequest result;
    std::string etag;
  };

  struct HtmlPage {
    std::string text;
    std::string policy;    // its Content-Security-Policy
    bool is_whole = true;  // if not, it is not kept
    std::string media_type = "text/html; charset=utf-8";
  };

  WebAnswer AnswerTable(const WebRequest& request, const SiteAddress& address);
  WebAnswer AnswerQuery(const WebRequest& request, const SiteAddress& address);
  WebAnswer AnswerSql(const WebRequest& request, const SiteAddress& address);
  WebAnswer AnswerResult(const WebRequest& request, Asked asked);
  SharedAnswers::Made Run(const WebRequest& request, const Asked& asked);
  WebAnswer AnswerList(const WebRequest& request, Format format_of_address);
  std::vector<std::string> QueryNames() const;
  WebAnswer AnswerPage(const WebRequest& request);
  WebAnswer AnswerReport(const WebRequest& request);
  WebAnswer AnswerCut(const WebRequest& request);
  WebAnswer AnswerHealth();
  WebAnswer AnswerMetrics(const WebRequest& request);

  Result<std::shared_ptr<RunningResult>> Start(const WebRequest& request, const Asked& asked,
                                               WebAnswer& answer);
  WebAnswer StreamOf(std::shared_ptr<RunningResult> running, const Asked& asked, WebAnswer answer);
  // The answer's state: database, address, parameters and form, as an entity tag in its quotes.
  Result<std::string> EtagOf(const WebRequest& request, bool gzip, std::string_view host);
  using MakeHtml = std::function<Result<HtmlPage>(SqliteDb&, StopReasons&)>;
  WebAnswer AnswerHtml(const WebRequest& request, std::string_view host, const MakeHtml& make);
  // Runs `make` on a connection, in a slot and within the time that an answer has.
  SharedAnswers::Made RunHtml(const WebRequest& request, const std::string& etag, bool gzip,
                              const MakeHtml& make);
  // The answer known by its entity tag, or made by who asked for the same first.
  WebAnswer Shared(const WebRequest& request, const std::string& etag,
                   const std::function<SharedAnswers::Made()>& make);
  // A 304, or the answer as it was made before; nothing: it must be made.
  std::optional<WebAnswer> Known(const WebRequest& request, const std::string& etag);
  WebAnswer Keep(const std::string& etag, WebAnswer answer);
  StopReasons ReasonsFor(const WebRequest& request) const;
  void Note(const std::string& text) const;

  const ServeOptions& options_;
  const QueryCatalog& catalog_;
  const std::atomic<bool>& stop_;
  RequestGuard guard_;
  DatabasePool pool_;
  QuerySlots slots_;
  ResultCache cache_;
  SharedAnswers shared_;
};

}  // namespace tracedb
