// Who may ask at all: method, Host header and token. Looks at nothing else, and before all else.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "serve/http/token_pace.h"
#include "serve/http/web_message.h"

namespace tracedb {

// Whether only this machine reaches an address: "localhost", 127.0.0.0/8 and ::1.
bool IsLoopback(std::string_view host);

// Takes as long for every `given` of one length, whatever it has in common with `secret`.
bool EqualInConstantTime(std::string_view given, std::string_view secret);

// The password of an Authorization header of the Basic scheme; nothing when it is none.
std::optional<std::string> BasicPassword(std::string_view authorization);

// "[::1]:80" -> "::1", "localhost:8642" -> "localhost", in small letters; empty when what follows
// the name is no port.
std::string HostName(std::string_view host_header);

class RequestGuard {
 public:
  // `host` is what the server listens on; `allowed` are further names; an empty token is none.
  // `waiting_max`: of requests after a wrong token, at a time.
  RequestGuard(std::string host, std::vector<std::string> allowed, std::string token,
               int waiting_max);

  // The answer that refuses the request; nothing when it may be answered. After a wrong token it
  // waits, but not once `stop`, asked several times a second, is true.
  std::optional<WebAnswer> Refuse(const WebRequest& request, const std::function<bool()>& stop);

 private:
  bool KnowsHost(const std::string& name) const;
  bool HasToken(const WebRequest& request) const;
  std::optional<WebAnswer> RefuseToken(const WebRequest& request,
                                       const std::function<bool()>& stop);

  bool loopback_;
  std::vector<std::string> names_;
  std::string token_;
  TokenPace pace_;
};

}  // namespace tracedb
