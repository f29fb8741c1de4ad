#include "serve/http/web_message.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <string>

namespace tracedb {
namespace {

std::string_view Trimmed(std::string_view text) {
  const size_t first = text.find_first_not_of(" \t");
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(" \t") - first + 1);
}

// Takes what is before the next `separator` off the front of `text`.
std::string_view TakePart(std::string_view& text, char separator) {
  const size_t at = text.find(separator);
  const std::string_view part = text.substr(0, at);
  text.remove_prefix(at == std::string_view::npos ? text.size() : at + 1);
  return Trimmed(part);
}

bool EqualWords(std::string_view a, std::string_view b) {
  const auto lower = [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; };
  return std::ranges::equal(a, b, {}, lower, lower);
}

}  // namespace

std::string_view WebRequest::Param(std::string_view name) const {
  const auto param =
      std::ranges::find_if(params, [name](const auto& one) { return one.first == name; });
  return param == params.end() ? std::string_view() : std::string_view(param->second);
}

WebAnswer PlainAnswer(int status, std::string_view reason, std::string_view advice) {
  WebAnswer answer;
  answer.status = status;
  answer.body = fmt::format("{}\n", reason);
  if (!advice.empty()) answer.body += fmt::format("{}\n", advice);
  answer.headers.emplace_back("Cache-Control", "no-store");
  return answer;
}

WebAnswer BusyAnswer(std::string_view reason, std::string_view advice) {
  WebAnswer answer = PlainAnswer(503, reason, advice);
  answer.headers.emplace_back("Retry-After", "5");
  return answer;
}

bool AcceptsGzip(std::string_view accept_encoding) {
  while (!accept_encoding.empty()) {
    std::string_view coding = TakePart(accept_encoding, ',');
    const std::string_view name = TakePart(coding, ';');
    if (!EqualWords(name, "gzip") && !EqualWords(name, "x-gzip")) continue;
    const std::string_view weight = Trimmed(coding);
    if (!weight.starts_with("q=") && !weight.starts_with("Q=")) return true;
    double quality = 0;
    std::from_chars(weight.data() + 2, weight.data() + weight.size(), quality);
    return quality > 0;
  }
  return false;
}

bool HasEtag(std::string_view if_none_match, std::string_view etag) {
  while (!if_none_match.empty()) {
    std::string_view known = TakePart(if_none_match, ',');
    if (known.starts_with("W/")) known.remove_prefix(2);
    if (known == etag || known == "*") return true;
  }
  return false;
}

std::string UrlEncoded(std::string_view text) {
  std::string encoded;
  for (const char c : text) {
    const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                       c == '-' || c == '_' || c == '.' || c == '~' || c == '/';
    if (plain) {
      encoded += c;
    } else {
      encoded += fmt::format("%{:02X}", static_cast<unsigned char>(c));
    }
  }
  return encoded;
}

}  // namespace tracedb
