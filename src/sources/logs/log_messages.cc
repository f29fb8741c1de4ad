#include "sources/logs/log_messages.h"

#include <algorithm>
#include <bit>
#include <bitset>
#include <utility>
#include <vector>

namespace tracedb {
namespace {

constexpr size_t kLookedAt = 1000;  // bytes of a line; an error is said at its beginning

struct Word {
  std::string_view text;
  std::string_view kind;
  size_t rare;  // where in it two pairs of letters begin that few other lines have: "em" and "mo"
};
constexpr std::string_view kOutOfMemory = "out of memory";
// The first of these that a line holds is its kind.
constexpr Word kWords[] = {{"out of memory", kOutOfMemory, 8},
                           {"OutOfMemoryError", kOutOfMemory, 2},
                           {"oom-kill", kOutOfMemory, 2},
                           {"Traceback (most recent call last)", "traceback", 4},
                           {"Segmentation fault", "crash", 1},
                           {"core dumped", "crash", 6},
                           {"SIGSEGV", "crash", 2},
                           {"SIGABRT", "crash", 2},
                           {"Killing subprocess", "killed", 9},
                           {"SIGKILL", "killed", 2},
                           {"SIGTERM", "killed", 2},
                           {"Killed", "killed", 0},
                           {"DUE TO TIME LIMIT", "killed", 0},
                           {"CANCELLED", "killed", 4},
                           {"atchdog caught collective", "timeout", 3},
                           {"timed out", "timeout", 1},
                           {"Timeout(ms)", "timeout", 6},
                           {"NCCL WARN", "warning", 5},
                           {"NaN", "nan", 0},
                           {"slurmstepd: error", "error", 8},
                           {"srun: error", "error", 0},
                           {"ERROR", "error", 1},
                           {"Error:", "error", 0},
                           {"error:", "error", 1},
                           {"Warning:", "warning", 2},
                           {"WARNING", "warning", 2}};

bool IsOfName(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

// Words in capitals stand alone: not in NCCL_ASYNC_ERROR_HANDLING.
bool IsAt(std::string_view text, size_t at, std::string_view word) {
  if (!text.substr(at).starts_with(word)) return false;
  const bool stands_alone = word.back() >= 'A' && word.back() <= 'Z';
  const size_t end = at + word.size();
  return !stands_alone ||
         ((at == 0 || !IsOfName(text[at - 1])) && (end == text.size() || !IsOfName(text[end])));
}

// Which of kWords a line holds. Of the two pairs of letters at Word::rare one stands at an even
// place of the line: most lines are passed over two bytes at a time, and where such a pair stands
// the words that have it are compared.
class WordFinder {
 public:
  WordFinder() : words_(65536) {
    for (size_t i = 0; i < std::size(kWords); ++i) {
      for (const size_t at : {kWords[i].rare, kWords[i].rare + 1}) {
        const size_t pair = Pair(kWords[i].text.data() + at);
        pairs_.set(pair);
        words_[pair] |= uint32_t{1} << i;
      }
    }
  }
  // A bit for each word that is found.
  uint32_t In(std::string_view text) const {
    constexpr size_t kBlock = 8;
    uint32_t found = 0;
    for (size_t at = 0; at + 1 < text.size(); at += 2) {
      while (at + kBlock <= text.size() && !HasPair(text.data() + at)) at += kBlock;
      if (at + 1 >= text.size()) break;
      const size_t pair = Pair(text.data() + at);
      if (!pairs_[pair]) continue;
      for (uint32_t left = words_[pair]; left != 0; left &= left - 1) {
        const auto i = static_cast<size_t>(std::countr_zero(left));
        for (const size_t place : {kWords[i].rare, kWords[i].rare + 1}) {
          if (at >= place && IsAt(text, at - place, kWords[i].text)) found |= uint32_t{1} << i;
        }
      }
    }
    return found;
  }

 private:
  // Whether one of the four pairs of eight bytes may be a word's: without a branch for each.
  bool HasPair(const char* at) const {
    const auto is_known = [this](const char* pair) { return unsigned{pairs_[Pair(pair)]}; };
    return (is_known(at) | is_known(at + 2) | is_known(at + 4) | is_known(at + 6)) != 0;
  }
  static size_t Pair(const char* at) {
    return size_t{static_cast<unsigned char>(at[0])} << 8 | static_cast<unsigned char>(at[1]);
  }
  std::bitset<65536> pairs_;
  std::vector<uint32_t> words_;  // by pair: a bit for each word that has it
};
static_assert(std::size(kWords) <= 32);
static_assert(std::all_of(std::begin(kWords), std::end(kWords),
                          [](const Word& word) { return word.rare + 3 <= word.text.size(); }));

// "NameError" of "NameError: free variable ..." and of "torch.cuda.OutOfMemoryError: ...".
std::string_view ExceptionOf(const LogLine& line) {
  if (line.is_indented) return {};
  const std::string_view name = line.text.substr(0, line.colon);
  const bool is_word = std::all_of(name.begin(), name.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || c == '.';
  });
  if (!is_word) return {};
  const std::string_view last = name.substr(name.rfind('.') + 1);
  for (const std::string_view end : {"Error", "Exception", "Interrupt"}) {
    if (last.ends_with(end) && last.size() > end.size() && last.front() >= 'A' &&
        last.front() <= 'Z') {
      return last;
    }
  }
  return {};
}

std::string_view KindOf(const LogLine& line) {
  static const WordFinder finder;
  const uint32_t found = finder.In(line.text.substr(0, kLookedAt));
  const std::string_view kind =
      found != 0 ? kWords[static_cast<size_t>(std::countr_zero(found))].kind : std::string_view();
  if (kind == kOutOfMemory) return kind;
  if (const std::string_view exception = ExceptionOf(line); !exception.empty()) return exception;
  const bool is_error = line.level == "ERROR" || line.level == "CRITICAL" || line.level == "FATAL";
  if (is_error && (kind.empty() || kind == "warning")) return "error";
  if (!kind.empty()) return kind;
  return line.level == "WARNING" || line.level == "WARN" ? "warning" : "";
}

}  // namespace

void LogMessages::Kept::Set(std::string_view new_text, const LogPlace& new_place) {
  text = new_text.substr(0, kTextBytes);
  writer = new_place.writer;
  place = new_place;
  place.writer = {};
}

void LogMessages::Add(std::string_view kind, std::string_view text, const LogPlace& place) {
  auto at = kinds_.find(kind);
  if (at == kinds_.end()) {
    if (kinds_.size() >= kKindsMax) kind = "other exception";
    at = kinds_.emplace(std::string(kind), Kind{}).first;
  }
  Kind& kept = at->second;
  if (kept.count == 0) kept.first.Set(text, place);
  kept.last.Set(text, place);
  ++kept.count;
}

void LogMessages::Look(const LogLine& line, const LogPlace& place) {
  if (const std::string_view kind = KindOf(line); !kind.empty()) Add(kind, line.whole, place);
}

void LogMessages::SawLine(std::string_view whole, const LogPlace& place) {
  lasts_[lines_++ % kLastLines].Set(whole, place);
}

Status LogMessages::WriteKept(LogRows& rows, const Kept& kept, std::string_view kind,
                              std::string_view position, uint64_t count) {
  LogPlace place = kept.place;
  place.writer = kept.writer;
  return rows.AddMessage(place, kind, position, count, kept.text);
}

Status LogMessages::Write(LogRows& rows) const {
  for (const auto& [kind, kept] : kinds_) {
    TRACEDB_TRY(WriteKept(rows, kept.first, kind, "first", kept.count));
    if (kept.count > 1) TRACEDB_TRY(WriteKept(rows, kept.last, kind, "last", kept.count));
  }
  const uint64_t begin = lines_ - std::min<uint64_t>(lines_, kLastLines);
  for (uint64_t i = begin; i < lines_; ++i) {
    TRACEDB_TRY(WriteKept(rows, lasts_[i % kLastLines], "last lines", "end", lines_));
  }
  return Done{};
}

}  // namespace tracedb
