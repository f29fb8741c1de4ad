// The fields of a line such as "iteration 30/ 50 | lm loss: 1.0E+01 | loss scale: 1.0 |".
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace tracedb {

struct LogPair {
  std::string_view name;
  std::string_view value;  // as written
  std::string_view unit;   // a word after it: "s" of "iteration time: 270.125 s"
};

enum class PairsEnd {
  kWhole,    // every field is a name with a value
  kHalf,     // one is not: the line was cut, or lines of several writers are mixed
  kTooMany,  // more fields than any logger writes
};

constexpr size_t kPairsMax = 256;

// Takes the fields of `text` between bars apart, into `pairs`. A field may hold several: "iteration
// time: 270.125 s samples/sec: 3.8". `ends_in_bar`: nothing stands after the last bar. kHalf:
// `text` is then what stands after the last bar that closes a field which is whole.
PairsEnd ReadLogPairs(std::string_view& text, std::vector<LogPair>& pairs, bool& ends_in_bar);

// "iteration 30/ 50", "iteration=       1/  635782", "step: 3": the number of an iteration, and of
// all of them where it stands there.
struct LogHead {
  int64_t iteration = 0;
  std::optional<int64_t> iterations;
};
// Reads it from the beginning of `text`, and takes it off with the bar after it.
std::optional<LogHead> TakeLogHead(std::string_view& text);

// The number with which `text` begins: "523.9" of "523.9/510.2" and of "3453.08ms/8".
std::optional<double> LeadingNumber(std::string_view text);
bool HasLeadingNumber(std::string_view text);
// The whole of it: 22500 for "22.5K", 1.05e6 for "1.05M"; `exponent`: times so many tens. Exact, as
// the digits are read once.
std::optional<double> WholeNumberOf(std::string_view text, int exponent);
// "step: 10  loss: 7.0  memory: 20.1GiB(25%)  tps: 3,000": a name and a word, again and again, of
// which the first counts iterations and another is a loss. False: it is something else.
bool ReadSpacedPairs(std::string_view text, std::vector<LogPair>& pairs);
bool IsIterationName(std::string_view name);
// Whether a number is followed by a letter, and there are further words: "80WARNING: more".
bool IsGlued(std::string_view value);

// A number as it is written, all else as a text.
void AppendJsonValue(std::string_view text, std::string& json);

}  // namespace tracedb
