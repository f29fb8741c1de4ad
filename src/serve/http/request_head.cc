#include "serve/http/request_head.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

namespace tracedb {
namespace {

constexpr size_t kHeadBytesMax = 64 << 10;
constexpr size_t kTargetBytesMax = 8 << 10;
constexpr size_t kFirstLineBytesMax = kTargetBytesMax + 64;
constexpr size_t kHeaderBytesMax = 8 << 10;
constexpr size_t kHeadersMax = 100;
constexpr size_t kLengthDigitsMax = 18;

constexpr std::array<std::string_view, 9> kMethods = {
    "GET", "HEAD", "POST", "PUT", "DELETE", "CONNECT", "OPTIONS", "TRACE", "PATCH"};

// RFC 9110's tchar: what names of headers are made of.
bool IsTokenByte(char c) {
  constexpr std::string_view kMarks = "!#$%&'*+-.^_`|~";
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
         kMarks.find(c) != std::string_view::npos;
}

bool IsToken(std::string_view text) {
  return !text.empty() && std::ranges::all_of(text, IsTokenByte);
}

std::string InSmallLetters(std::string_view text) {
  std::string small(text);
  for (char& c : small) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c;
  return small;
}

std::string_view Trimmed(std::string_view text) {
  const size_t first = text.find_first_not_of(" \t");
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(" \t") - first + 1);
}

bool IsControl(char c) { return (c >= '\0' && c < ' ') || c == '\x7f'; }

}  // namespace

void RequestHead::Refuse(int status, std::string_view reason) {
  if (!fault_.has_value()) fault_ = Fault{status, reason};
  is_last_ = true;
  // What is wrong with its line does not make an answer to HEAD have a body.
  if (method_.empty() && line_.starts_with("HEAD ")) method_ = "HEAD";
}

void RequestHead::Take(std::string_view& bytes) {
  while (!bytes.empty() && !is_whole_ && !fault_.has_value()) {
    TakeByte(bytes.front());
    bytes.remove_prefix(1);
  }
}

void RequestHead::TakeByte(char c) {
  if (++bytes_ > kHeadBytesMax) return Refuse(431, "the headers are too long");
  if (after_return_ != (c == '\n')) return Refuse(400, "lines end in CR LF, and in nothing else");
  after_return_ = c == '\r';
  if (c == '\n') return EndLine();
  if (after_return_) return;
  if (IsControl(c) && c != '\t') return Refuse(400, "a control character is in the request");
  line_ += c;
  const bool is_first = method_.empty();
  if (line_.size() <= (is_first ? kFirstLineBytesMax : kHeaderBytesMax)) return;
  Refuse(is_first ? 414 : 431, is_first ? "the address is too long" : "a header is too long");
}

void RequestHead::EndLine() {
  if (method_.empty()) {
    ReadRequestLine();
  } else if (line_.empty()) {
    EndHead();
  } else {
    ReadHeader();
  }
  line_.clear();
}

void RequestHead::ReadRequestLine() {
  const std::string_view line = line_;
  const size_t space = line.find(' ');
  const size_t last = line.rfind(' ');
  if (space == std::string_view::npos || last == space) {
    return Refuse(400, "this is no request that can be understood");
  }
  const std::string_view method = line.substr(0, space);
  const std::string_view target = line.substr(space + 1, last - space - 1);
  const std::string_view version = line.substr(last + 1);
  if (std::ranges::find(kMethods, method) == kMethods.end()) {
    return Refuse(400, "there is no such method");
  }
  if (version != "HTTP/1.1" && version != "HTTP/1.0") {
    return Refuse(400, "HTTP/1.1 is spoken here");
  }
  if (target.size() > kTargetBytesMax) return Refuse(414, "the address is too long");
  // Other forms are for proxies; one with a host would be a second place for that.
  if (!target.starts_with('/') || target.find_first_of(" \t") != std::string_view::npos) {
    return Refuse(400, "the address must begin with a / and hold no space");
  }
  method_ = method;
  target_ = target;
  is_http_1_0_ = version == "HTTP/1.0";
  is_last_ = is_http_1_0_;
}

void RequestHead::ReadHeader() {
  if (++headers_ > kHeadersMax) return Refuse(431, "there are too many headers");
  const std::string_view line = line_;
  const size_t colon = line.find(':');
  if (colon == std::string_view::npos || !IsToken(line.substr(0, colon))) {
    return Refuse(400, "a header's name is a word, with its colon right after it");
  }
  const std::string name = InSmallLetters(line.substr(0, colon));
  const std::string_view value = Trimmed(line.substr(colon + 1));
  if (name == "host") {
    if (!hosts_.empty()) return Refuse(400, "one Host header is needed");
    hosts_.emplace_back(value);
  } else if (name == "content-length") {
    ReadLength(value);
  } else if (name == "transfer-encoding") {
    ReadCoding(value);
  } else if (name == "connection") {
    ReadConnection(value);
  } else if (name == "authorization") {
    if (std::exchange(has_authorization_, true)) {
      return Refuse(400, "there are two Authorization headers");
    }
    authorization_ = value;
  } else if (name == "if-none-match" || name == "accept-encoding") {
    // Lists, which may be in several headers.
    std::string& list = name == "if-none-match" ? if_none_match_ : accept_encoding_;
    list += fmt::format("{}{}", list.empty() ? "" : ", ", value);
  }
}

void RequestHead::ReadLength(std::string_view value) {
  if (length_.has_value()) return Refuse(400, "there are two Content-Length headers");
  const bool is_number = !value.empty() && value.size() <= kLengthDigitsMax &&
                         std::ranges::all_of(value, [](char c) { return c >= '0' && c <= '9'; });
  if (!is_number) return Refuse(400, "Content-Length is no number of bytes");
  length_ = value;
}

void RequestHead::ReadCoding(std::string_view value) {
  if (is_chunked_ || InSmallLetters(value) != "chunked") {
    return Refuse(400, "no Transfer-Encoding but chunked is known");
  }
  is_chunked_ = true;
}

void RequestHead::ReadConnection(std::string_view value) {
  const std::string words = InSmallLetters(value);
  for (std::string_view left = words; !left.empty();) {
    const size_t comma = left.find(',');
    if (Trimmed(left.substr(0, comma)) == "close") is_last_ = true;
    left.remove_prefix(comma == std::string_view::npos ? left.size() : comma + 1);
  }
}

void RequestHead::EndHead() {
  if (is_chunked_ && (length_.has_value() || is_http_1_0_)) {
    return Refuse(400, "how long the body is, is said in two ways");
  }
  const bool has_body =
      is_chunked_ || (length_.has_value() && length_->find_first_not_of('0') != std::string::npos);
  if (has_body && (method_ == "GET" || method_ == "HEAD")) {
    return Refuse(400, "a request of this kind has no body");
  }
  is_last_ = is_last_ || has_body;
  is_whole_ = true;
}

std::string RequestHead::Plain() const {
  return fmt::format("{} {} HTTP/1.{}\r\n{}\r\n", method_, target_, is_http_1_0_ ? 0 : 1,
                     is_last_ ? "Connection: close\r\n" : "");
}

}  // namespace tracedb
