// A request and its answer, as far as they matter here; how they come over the network is
// http_server's.
#pragma once

#include <chrono>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace tracedb {

struct WebRequest {
  std::string method;
  std::string path;                                         // decoded, without the query
  std::vector<std::pair<std::string, std::string>> params;  // decoded, sorted by name
  std::vector<std::string> hosts;                           // every Host header
  std::string client;                                       // its address on the network
  std::string authorization;
  std::string if_none_match;
  std::string accept_encoding;
  std::function<bool()> is_gone;  // whether the client has closed its end
  std::chrono::steady_clock::time_point begun = std::chrono::steady_clock::now();

  // The first value of that name; empty when there is none.
  std::string_view Param(std::string_view name) const;
};

struct WebAnswer {
  using Write = std::function<bool(std::string_view bytes)>;

  int status = 200;
  std::string media_type = "text/plain; charset=utf-8";
  std::vector<std::pair<std::string, std::string>> headers;
  std::string body;
  // Instead of `body`: writes all of it and says whether it is whole. When not, or when `write`
  // said false, the connection is broken off.
  std::function<bool(const Write& write)> stream;
  // Asked several times a second while the client takes nothing; true: it is not waited for longer.
  std::function<bool()> give_up;
};

// A refusal in plain text; `advice` may be empty.
WebAnswer PlainAnswer(int status, std::string_view reason, std::string_view advice = "");
// A 503 that says when to come again.
WebAnswer BusyAnswer(std::string_view reason, std::string_view advice = "");

// Whether an Accept-Encoding header takes gzip.
bool AcceptsGzip(std::string_view accept_encoding);
// Whether an If-None-Match header has the entity tag (which is in its quotes).
bool HasEtag(std::string_view if_none_match, std::string_view etag);
// Text as it may stand in a query or a path of a URL.
std::string UrlEncoded(std::string_view text);

}  // namespace tracedb
