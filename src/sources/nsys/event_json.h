// An event of a trace as a line of JSON.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace tracedb {

class EventJson {
 public:
  // Lines are appended to `out`, which must outlive it.
  explicit EventJson(std::string& out) : out_(out) {}

  // `category`, `name` and keys are insides of JSON strings.
  void Begin(char phase, std::string_view category, std::string_view name);
  void Track(int64_t pid, int64_t tid);
  // ns, of which traces write thousandths of microseconds.
  void Time(int64_t ts_ns);
  // Nothing where the end is not known.
  void Duration(int64_t ts_ns, std::optional<int64_t> end_ns);
  // Of the event itself, before its first argument.
  void Id(int64_t id);
  void Arg(std::string_view key, int64_t value);
  void Arg(std::string_view key, std::optional<int64_t> value) {
    if (value.has_value()) Arg(key, *value);
  }
  void ArgJson(std::string_view key, std::string_view json);
  // `inside` is that of a JSON string; ArgText() makes it of any text.
  void ArgInside(std::string_view key, std::string_view inside);
  void ArgText(std::string_view key, std::string_view text);
  void End();

  uint64_t count() const { return count_; }

 private:
  void Key(std::string_view key);
  void Number(int64_t value);
  void Microseconds(int64_t ns);

  std::string& out_;
  bool any_arg_ = false;
  uint64_t count_ = 0;
};

}  // namespace tracedb
