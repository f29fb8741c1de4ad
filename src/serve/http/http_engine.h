// What speaks HTTP for HttpServer: cpp-httplib, which brings OpenSSL along. Where it is a module of
// its own (tracedb-http.so), who only ingests or queries does not load it.
#pragma once

#include <functional>
#include <string>

#include "serve/http/web_message.h"
#include "tracedb/base/result.h"

namespace tracedb {

using HttpHandler = std::function<WebAnswer(const WebRequest&)>;

class HttpEngine {
 public:
  virtual ~HttpEngine() = default;
  // Gives the port, which is a free one for 0.
  virtual Result<int> Bind(const std::string& host, int port) = 0;
  virtual void Start() = 0;
  // Does nothing when it has not been started.
  virtual void Stop() = 0;
};

}  // namespace tracedb

// The caller deletes what it gets; `handler` is taken.
extern "C" tracedb::HttpEngine* tracedb_http_engine(int connections_max,
                                                    tracedb::HttpHandler* handler);
