// What a step that can fail returns: a value, or an error made for a person to read.
//
// An Error is for trouble that stops a command. One bad event in a trace is data, not an Error
// (see ingest/event_issues.h); a mistake of our own is an assert.
#pragma once

#include <cassert>
#include <string>
#include <utility>
#include <variant>

namespace tracedb {

enum class ErrorKind {
  kUsage,      // the command line was wrong: exit code 2
  kInput,      // what we were given to read cannot be used
  kNoTrace,    // kInput, and it is something else altogether
  kOutput,     // what we were told to write cannot be written
  kQuery,      // the SQL, or a parameter of it, cannot be run
  kAssert,     // an --assert did not hold: exit code 3
  kFindings,   // doctor found something, which its report tells: exit code 4
  kUndecided,  // compare has to decide, and cannot: exit code 5
  kUnfit,      // this way cannot do it, and another can: never reaches a person
  kClosed,     // the reader of our output has gone; ends quietly
};

struct Error {
  ErrorKind kind = ErrorKind::kInput;
  std::string what;    // "rank3.json.gz: byte 4096: the gzip checksum does not match"
  std::string advice;  // "copy the file again"; may be empty
};

template <typename T>
class [[nodiscard]] Result {
 public:
  Result(T value) : state_(std::in_place_index<0>, std::move(value)) {}
  Result(Error error) : state_(std::in_place_index<1>, std::move(error)) {}

  bool ok() const { return state_.index() == 0; }

  T& value() & {
    assert(ok());
    return *std::get_if<0>(&state_);
  }
  const T& value() const& {
    assert(ok());
    return *std::get_if<0>(&state_);
  }
  T&& value() && {
    assert(ok());
    return std::move(*std::get_if<0>(&state_));
  }

  const Error& error() const& {
    assert(!ok());
    return *std::get_if<1>(&state_);
  }
  Error&& error() && {
    assert(!ok());
    return std::move(*std::get_if<1>(&state_));
  }

 private:
  std::variant<T, Error> state_;
};

struct Done {};
using Status = Result<Done>;

}  // namespace tracedb

// Runs a step; returns its error from the enclosing function if it has one.
#define TRACEDB_TRY(step)                                           \
  do {                                                              \
    if (auto tracedb_try_result = (step); !tracedb_try_result.ok()) \
      return std::move(tracedb_try_result).error();                 \
  } while (false)

// Declares `variable` with the step's value, or returns the step's error.
#define TRACEDB_ASSIGN(variable, step) TRACEDB_ASSIGN_AT_(variable, step, __LINE__)
#define TRACEDB_ASSIGN_AT_(variable, step, line) TRACEDB_ASSIGN_IN_(variable, step, line)
#define TRACEDB_ASSIGN_IN_(variable, step, line)                                    \
  auto tracedb_result_##line = (step);                                              \
  if (!tracedb_result_##line.ok()) return std::move(tracedb_result_##line).error(); \
  auto variable = std::move(tracedb_result_##line).value()
