// HTTP on a port: requests go to a handler, its answers go back. cpp-httplib speaks the protocol.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "serve/http/web_message.h"
#include "tracedb/base/result.h"

namespace tracedb {

class HttpServer {
 public:
  using Handler = std::function<WebAnswer(const WebRequest&)>;

  // `handler` is called from many threads.
  HttpServer(int connections_max, Handler handler);
  ~HttpServer();
  HttpServer(const HttpServer&) = delete;
  HttpServer& operator=(const HttpServer&) = delete;

  // Gives the port, which is a free one for 0.
  Result<int> Bind(const std::string& host, int port);
  // Begins to answer, on threads of its own.
  void Start();
  // Ends every connection; when it comes back no handler runs any more.
  void Stop();

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace tracedb
