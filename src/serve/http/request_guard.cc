#include "serve/http/request_guard.h"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cctype>

namespace tracedb {
namespace {

bool IsAddress(const std::string& name) {
  std::array<unsigned char, sizeof(in6_addr)> bytes{};
  return inet_pton(AF_INET, name.c_str(), bytes.data()) == 1 ||
         inet_pton(AF_INET6, name.c_str(), bytes.data()) == 1;
}

// The six bits that a letter of base64 stands for; -1 for what is no such letter.
int Base64Bits(char c) {
  if (c >= 'A' && c <= 'Z') return c - 'A';
  if (c >= 'a' && c <= 'z') return c - 'a' + 26;
  if (c >= '0' && c <= '9') return c - '0' + 52;
  if (c == '+') return 62;
  return c == '/' ? 63 : -1;
}

std::optional<std::string> Base64Text(std::string_view encoded) {
  while (encoded.ends_with('=')) encoded.remove_suffix(1);
  std::string text;
  unsigned gathered = 0;
  int bits = 0;
  for (const char c : encoded) {
    const int value = Base64Bits(c);
    if (value < 0) return std::nullopt;
    gathered = (gathered << 6 | static_cast<unsigned>(value)) & 0xffff;
    bits += 6;
    if (bits < 8) continue;
    bits -= 8;
    text += static_cast<char>(gathered >> bits & 0xff);
  }
  return text;
}

std::string InSmallLetters(std::string_view text) {
  std::string small(text);
  for (char& c : small) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return small;
}

// What may follow a name: nothing, or a colon with or without a number.
bool IsPort(std::string_view text) {
  constexpr size_t kDigitsMax = 5;
  if (text.empty()) return true;
  return text.front() == ':' && text.size() <= 1 + kDigitsMax &&
         std::ranges::all_of(text.substr(1), [](char c) { return c >= '0' && c <= '9'; });
}

}  // namespace

bool IsLoopback(std::string_view host) {
  const std::string name = InSmallLetters(host);
  in_addr address{};
  if (inet_pton(AF_INET, name.c_str(), &address) == 1) return ntohl(address.s_addr) >> 24 == 127;
  return name == "localhost" || name == "::1";
}

bool EqualInConstantTime(std::string_view given, std::string_view secret) {
  unsigned difference = given.size() == secret.size() ? 0 : 1;
  for (size_t i = 0; i < given.size(); ++i) {
    const char wanted = secret.empty() ? '\0' : secret[i % secret.size()];
    difference |= static_cast<unsigned char>(given[i] ^ wanted);
  }
  // Read back as volatile: the loop may not end at the first difference.
  const volatile unsigned seen = difference;
  return seen == 0;
}

std::optional<std::string> BasicPassword(std::string_view authorization) {
  constexpr size_t kSchemeLength = 6;
  if (InSmallLetters(authorization.substr(0, kSchemeLength)) != "basic ") return std::nullopt;
  authorization.remove_prefix(kSchemeLength);
  while (authorization.starts_with(' ')) authorization.remove_prefix(1);
  const auto text = Base64Text(authorization);
  const size_t colon = text.has_value() ? text->find(':') : std::string::npos;
  if (colon == std::string::npos) return std::nullopt;
  return text->substr(colon + 1);
}

std::string HostName(std::string_view host_header) {
  const bool bracket = host_header.starts_with('[');
  const size_t end =
      bracket ? host_header.find(']') : std::min(host_header.find(':'), host_header.size());
  if (end == std::string_view::npos) return "";
  if (!IsPort(host_header.substr(bracket ? end + 1 : end))) return "";
  std::string name = InSmallLetters(host_header.substr(bracket ? 1 : 0, bracket ? end - 1 : end));
  if (!bracket && name.ends_with('.')) name.pop_back();
  return name;
}

RequestGuard::RequestGuard(std::string host, std::vector<std::string> allowed, std::string token,
                           int waiting_max)
    : loopback_(IsLoopback(host)), token_(std::move(token)), pace_(waiting_max) {
  names_ = {"localhost", "127.0.0.1", "::1"};
  names_.push_back(InSmallLetters(host));
  for (const std::string& name : allowed) names_.push_back(InSmallLetters(name));
  std::array<char, 256> machine{};
  if (!loopback_ && gethostname(machine.data(), machine.size() - 1) == 0) {
    names_.push_back(InSmallLetters(machine.data()));
  }
}

// A page of another site can make its own name point here, but a name is all that it can choose: an
// address in Host is what the person typed.
bool RequestGuard::KnowsHost(const std::string& name) const {
  return std::ranges::find(names_, name) != names_.end() || (!loopback_ && IsAddress(name));
}

bool RequestGuard::HasToken(const WebRequest& request) const {
  const std::string password = BasicPassword(request.authorization).value_or("");
  const bool by_password = EqualInConstantTime(password, token_);
  const bool by_param = EqualInConstantTime(request.Param("token"), token_);
  return by_password || by_param;
}

std::optional<WebAnswer> RequestGuard::RefuseToken(const WebRequest& request,
                                                   const std::function<bool()>& stop) {
  const bool is_given = !request.authorization.empty() || !request.Param("token").empty();
  // Browsers ask without one first. Nothing is learnt from such a request.
  if (is_given && !pace_.Await(request.client, stop)) {
    WebAnswer answer = PlainAnswer(429, "too many wrong tokens came from this address");
    answer.headers.emplace_back("Retry-After", "1");
    return answer;
  }
  if (HasToken(request)) {
    pace_.NoteRight(request.client);
    return std::nullopt;
  }
  if (is_given) pace_.NoteWrong(request.client);
  WebAnswer answer =
      PlainAnswer(401, "the token is missing or wrong",
                  "give it as the password (any user name), or in the address: ?token=...");
  answer.headers.emplace_back("WWW-Authenticate", "Basic realm=\"tracedb\", charset=\"UTF-8\"");
  return answer;
}

std::optional<WebAnswer> RequestGuard::Refuse(const WebRequest& request,
                                              const std::function<bool()>& stop) {
  if (request.hosts.size() != 1) return PlainAnswer(400, "one Host header is needed");
  const std::string name = HostName(request.hosts[0]);
  if (!KnowsHost(name)) {
    return PlainAnswer(400, "this server does not go by the name in the Host header",
                       "name it with --allow-host, or ask by the address of the start-up line");
  }
  if (request.method != "GET" && request.method != "HEAD") {
    WebAnswer answer = PlainAnswer(405, "only GET and HEAD are answered");
    answer.headers.emplace_back("Allow", "GET, HEAD");
    return answer;
  }
  if (token_.empty()) return std::nullopt;
  return RefuseToken(request, stop);
}

}  // namespace tracedb
