#include "sources/nsys/event_json.h"

#include <charconv>

#include "sources/nsys/text_ids.h"
#include "tracedb/base/interval.h"

namespace tracedb {

void EventJson::Begin(char phase, std::string_view category, std::string_view name) {
  out_ += count_++ == 0 ? "{\"ph\":\"" : ",\n{\"ph\":\"";
  out_ += phase;
  out_ += "\",\"cat\":\"";
  out_ += category;
  out_ += "\",\"name\":\"";
  out_ += name;
  out_ += '"';
  any_arg_ = false;
}

void EventJson::Track(int64_t pid, int64_t tid) {
  out_ += ",\"pid\":";
  Number(pid);
  out_ += ",\"tid\":";
  Number(tid);
}

void EventJson::Time(int64_t ts_ns) {
  out_ += ",\"ts\":";
  Microseconds(ts_ns);
}

void EventJson::Duration(int64_t ts_ns, std::optional<int64_t> end_ns) {
  if (!end_ns.has_value()) return;
  out_ += ",\"dur\":";
  Microseconds(DifferenceNs(*end_ns, ts_ns));
}

void EventJson::Id(int64_t id) {
  out_ += ",\"id\":";
  Number(id);
}

void EventJson::Arg(std::string_view key, int64_t value) {
  Key(key);
  Number(value);
}

void EventJson::ArgJson(std::string_view key, std::string_view json) {
  Key(key);
  out_ += json;
}

void EventJson::ArgInside(std::string_view key, std::string_view inside) {
  Key(key);
  out_ += '"';
  out_ += inside;
  out_ += '"';
}

void EventJson::ArgText(std::string_view key, std::string_view text) {
  Key(key);
  out_ += '"';
  AppendJsonInside(out_, text);
  out_ += '"';
}

void EventJson::End() { out_ += any_arg_ ? "}}" : "}"; }

void EventJson::Key(std::string_view key) {
  out_ += any_arg_ ? ",\"" : ",\"args\":{\"";
  out_ += key;
  out_ += "\":";
  any_arg_ = true;
}

void EventJson::Number(int64_t value) {
  char digits[24];
  const auto result = std::to_chars(digits, digits + sizeof digits, value);
  out_.append(digits, result.ptr);
}

void EventJson::Microseconds(int64_t ns) {
  char digits[24];
  const bool negative = ns < 0;
  const uint64_t size = negative ? ~static_cast<uint64_t>(ns) + 1 : static_cast<uint64_t>(ns);
  char* end = std::to_chars(digits, digits + sizeof digits, size / 1000).ptr;
  if (negative) out_ += '-';
  out_.append(digits, end);
  const auto rest = static_cast<unsigned>(size % 1000);
  const char thousandths[] = {'.', static_cast<char>('0' + rest / 100),
                              static_cast<char>('0' + rest / 10 % 10),
                              static_cast<char>('0' + rest % 10)};
  out_.append(thousandths, sizeof thousandths);
}

}  // namespace tracedb
