#include "serve/http/http_server.h"

#include <utility>

#include "tracedb/base/own_module.h"

namespace tracedb {
HttpServer::HttpServer(int connections_max, HttpHandler handler)
    : connections_max_(connections_max), handler_(std::move(handler)) {}

HttpServer::~HttpServer() { Stop(); }

Result<int> HttpServer::Bind(const std::string& host, int port) {
#ifdef TRACEDB_MODULES
  TRACEDB_ASSIGN(found, ModuleFunction("tracedb-http.so", "tracedb_http_engine"));
  const auto make = reinterpret_cast<decltype(&tracedb_http_engine)>(found);
#else
  const auto make = &tracedb_http_engine;
#endif
  engine_.reset(make(connections_max_, &handler_));
  return engine_->Bind(host, port);
}

void HttpServer::Start() { engine_->Start(); }

void HttpServer::Stop() {
  if (engine_ != nullptr) engine_->Stop();
}

}  // namespace tracedb
