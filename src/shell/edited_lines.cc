#include "shell/edited_lines.h"

#include <fmt/format.h>
#include <histedit.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <clocale>
#include <cstdio>
#include <cstdlib>
#include <cwchar>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

namespace tracedb {
namespace {

constexpr int kHistoryLines = 1000;
constexpr size_t kNamesShownMax = 100;

// As the XDG base directories have it: what a program remembers, but nobody would copy.
std::filesystem::path HistoryFile() {
  const char* state = std::getenv("XDG_STATE_HOME");
  const char* home = std::getenv("HOME");
  std::filesystem::path folder;
  if (state != nullptr && *state == '/') {
    folder = state;
  } else if (home != nullptr && *home == '/') {
    folder = std::filesystem::path(home) / ".local" / "state";
  } else {
    return {};
  }
  return folder / "tracedb" / "history";
}

bool IsPartOfName(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '.' || c == '/' ||
         c == '-';
}

// What all of them begin with.
std::string CommonStart(const std::vector<std::string>& names) {
  std::string common = names.front();
  for (const std::string& name : names) {
    const auto at = std::mismatch(common.begin(), common.end(), name.begin(), name.end());
    common.erase(at.first, common.end());
  }
  return common;
}

}  // namespace

struct EditedLines::Editor {
  EditLine* line = nullptr;
  History* history = nullptr;
  std::string prompt;
  Completer completer;
  std::function<bool()> take_stop;

  static Editor& Of(EditLine* line) {
    void* self = nullptr;
    el_get(line, EL_CLIENTDATA, &self);
    return *static_cast<Editor*>(self);
  }
  static char* Prompt(EditLine* line) { return Of(line).prompt.data(); }
  static unsigned char Complete(EditLine* line, int);
  static int ReadCharacter(EditLine* line, wchar_t* character);
};

// A signal that comes just before the wait for a key would not end it: the wait is short. 1: a
// character; 0: the end; -1: none, as errno says.
int EditedLines::Editor::ReadCharacter(EditLine* line, wchar_t* character) {
  constexpr int kWaitMs = 50;
  std::mbstate_t state{};
  for (;;) {
    if (Of(line).take_stop()) {
      errno = EINTR;
      return -1;
    }
    pollfd waiting{STDIN_FILENO, POLLIN, 0};
    if (poll(&waiting, 1, kWaitMs) <= 0) continue;
    char byte = 0;
    const ssize_t count = read(STDIN_FILENO, &byte, 1);
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return static_cast<int>(count);
    const size_t used = std::mbrtowc(character, &byte, 1, &state);
    if (used == 0 || used == 1) return 1;
    if (used != static_cast<size_t>(-2)) state = {};  // no character: as if it was not typed
  }
}

// Tab: as much as all names have in common; where that is nothing more, the names are listed.
unsigned char EditedLines::Editor::Complete(EditLine* line, int) {
  const LineInfo* const typed = el_line(line);
  const std::string_view text(typed->buffer, static_cast<size_t>(typed->cursor - typed->buffer));
  size_t begin = text.size();
  while (begin > 0 && IsPartOfName(text[begin - 1])) --begin;
  const std::string_view begun = text.substr(begin);
  const std::vector<std::string> names = Of(line).completer(text.substr(0, begin), begun);
  if (names.empty()) return CC_ERROR;
  std::string more = CommonStart(names).substr(begun.size());
  const bool is_whole = names.size() == 1 && !names.front().ends_with('=');
  if (is_whole) more += ' ';
  if (!more.empty()) return el_insertstr(line, more.c_str()) == 0 ? CC_REFRESH : CC_ERROR;
  std::fputc('\n', stdout);
  for (size_t i = 0; i < std::min(names.size(), kNamesShownMax); ++i) {
    std::fprintf(stdout, "%s%s", i == 0 ? "" : "  ", names[i].c_str());
  }
  if (names.size() > kNamesShownMax) {
    std::fprintf(stdout, "  ... and %zu more", names.size() - kNamesShownMax);
  }
  std::fputc('\n', stdout);
  return CC_REDISPLAY;
}

EditedLines::EditedLines(Completer completer, std::function<bool()> take_stop)
    : editor_(std::make_unique<Editor>()), history_file_(HistoryFile()) {
  std::setlocale(LC_CTYPE, "");  // how many columns a character takes
  editor_->completer = std::move(completer);
  editor_->take_stop = std::move(take_stop);
  editor_->line = el_init("tracedb", stdin, stdout, stdout);
  editor_->history = history_init();
  if (editor_->line == nullptr || editor_->history == nullptr) return;  // Read() says so
  HistEvent event;
  history(editor_->history, &event, H_SETSIZE, kHistoryLines);
  history(editor_->history, &event, H_SETUNIQUE, 1);
  if (!history_file_.empty()) {
    history(editor_->history, &event, H_LOAD, history_file_.c_str());
  }
  EditLine* const line = editor_->line;
  el_set(line, EL_CLIENTDATA, editor_.get());
  el_set(line, EL_PROMPT, &Editor::Prompt);
  el_set(line, EL_GETCFN, &Editor::ReadCharacter);
  el_set(line, EL_SIGNAL, 0);  // ctrl-C is this program's
  el_set(line, EL_EDITOR, "emacs");
  el_set(line, EL_HIST, history, editor_->history);
  el_set(line, EL_ADDFN, "complete-name", "complete a name", &Editor::Complete);
  el_set(line, EL_BIND, "^I", "complete-name", nullptr);
  el_set(line, EL_BIND, "^R", "em-inc-search-prev", nullptr);
  el_source(line, nullptr);
}

EditedLines::~EditedLines() {
  if (editor_->history != nullptr && !history_file_.empty()) {
    std::error_code failed;
    std::filesystem::create_directories(history_file_.parent_path(), failed);
    const mode_t before = umask(077);  // queries may name what others need not read
    HistEvent event;
    if (!failed) history(editor_->history, &event, H_SAVE, history_file_.c_str());
    umask(before);
  }
  if (editor_->line != nullptr) el_end(editor_->line);
  if (editor_->history != nullptr) history_end(editor_->history);
}

Result<TypedLine> EditedLines::Read(const std::string& prompt) {
  if (editor_->line == nullptr || editor_->history == nullptr) {
    return Error{ErrorKind::kInput, "standard input: this terminal cannot be used for typing",
                 "SQL from a file or a pipe needs none: tracedb shell <FILE"};
  }
  editor_->prompt = prompt;
  int count = 0;
  errno = 0;
  const char* const text = el_gets(editor_->line, &count);
  if (text == nullptr || count <= 0) {
    std::fputc('\n', stdout);
    std::fflush(stdout);
    if (count < 0 && errno == EINTR) {
      el_reset(editor_->line);
      return TypedLine{TypedLine::What::kInterrupted, {}};
    }
    return TypedLine{TypedLine::What::kEnd, {}};
  }
  TypedLine line{TypedLine::What::kLine, std::string(text, static_cast<size_t>(count))};
  while (line.text.ends_with('\n') || line.text.ends_with('\r')) line.text.pop_back();
  HistEvent event;
  if (line.text.find_first_not_of(" \t") != std::string::npos) {
    history(editor_->history, &event, H_ENTER, line.text.c_str());
  }
  return line;
}

std::unique_ptr<LineReader> ReadTypedLines(Completer completer, std::function<bool()> take_stop) {
  return std::make_unique<EditedLines>(std::move(completer), std::move(take_stop));
}

}  // namespace tracedb
