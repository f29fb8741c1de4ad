#include "tracedb/serve/serve_command.h"

#include <fmt/format.h>
#include <poll.h>
#include <sys/resource.h>

#include <algorithm>

#include "serve/http/http_server.h"
#include "serve/http/request_guard.h"
#include "serve/http/web_message.h"
#include "serve/trace_site.h"
#include "tracedb/query/run/query_database.h"

namespace tracedb {
namespace {

Status CheckOptions(const ServeOptions& options) {
  if (IsLoopback(options.host) || !options.token.empty()) return Done{};
  return Error{
      ErrorKind::kUsage,
      fmt::format("--host {}: others can reach this address, so a token is needed", options.host),
      "for example: (umask 077; openssl rand -hex 16 > token); tracedb serve --token-file "
      "token "
      "--host ..."};
}

// Each connection may have its socket, its database and files that SQLite sorts in.
void AllowDescriptors(int connections) {
  rlimit limit{};
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0) return;
  const rlim_t wanted = static_cast<rlim_t>(connections) * 8 + 64;
  if (limit.rlim_cur >= wanted) return;
  limit.rlim_cur = std::min(wanted, limit.rlim_max);
  setrlimit(RLIMIT_NOFILE, &limit);
}

std::string UrlOf(const ServeOptions& options, int port) {
  const bool is_v6 = options.host.find(':') != std::string::npos;
  return fmt::format("http://{}{}{}:{}/", is_v6 ? "[" : "", options.host, is_v6 ? "]" : "", port);
}

}  // namespace

Status ServeCsv(const ServeOptions& options, const QueryCatalog& catalog,
                const std::atomic<bool>& stop) {
  TRACEDB_TRY(CheckOptions(options));
  // What is wrong with the database is said now, not to the first who asks.
  TRACEDB_TRY(OpenTraceDatabase(options.database));
  AllowDescriptors(options.connections_max);
  TraceSite site(options, catalog, stop);
  HttpServer server(options.connections_max,
                    [&site](const WebRequest& request) { return site.Answer(request); });
  TRACEDB_ASSIGN(port, server.Bind(options.host, options.port));
  server.Start();
  const std::string url = UrlOf(options, port);
  const std::string token = options.token.empty() ? "" : "?token=" + UrlEncoded(options.token);
  if (options.on_ready) options.on_ready(url, url + token);
  while (!stop.load()) poll(nullptr, 0, 100);
  server.Stop();
  return Done{};
}

}  // namespace tracedb
