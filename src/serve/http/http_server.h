// HTTP on a port: requests go to a handler, its answers go back.
#pragma once

#include <memory>
#include <string>

#include "serve/http/http_engine.h"
#include "tracedb/base/result.h"

namespace tracedb {

class HttpServer {
 public:
  // `handler` is called from many threads.
  HttpServer(int connections_max, HttpHandler handler);
  ~HttpServer();
  HttpServer(const HttpServer&) = delete;
  HttpServer& operator=(const HttpServer&) = delete;

  // Gives the port, which is a free one for 0. Once.
  Result<int> Bind(const std::string& host, int port);
  // Begins to answer, on threads of its own.
  void Start();
  // Ends every connection; when it comes back no handler runs any more.
  void Stop();

 private:
  const int connections_max_;
  HttpHandler handler_;  // until the engine has it
  std::unique_ptr<HttpEngine> engine_;
};

}  // namespace tracedb
