// Lines typed at a terminal, edited with libedit's keys (emacs, or as ~/.editrc has it), with tab
// for names and a history that lasts.
#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <string>

#include "shell/line_reader.h"

namespace tracedb {

class EditedLines : public LineReader {
 public:
  EditedLines(Completer completer, std::function<bool()> take_stop);
  ~EditedLines() override;
  EditedLines(const EditedLines&) = delete;
  EditedLines& operator=(const EditedLines&) = delete;

  Result<TypedLine> Read(const std::string& prompt) override;

 private:
  struct Editor;  // libedit's
  std::unique_ptr<Editor> editor_;
  std::filesystem::path history_file_;  // empty: there is no place for one
};

}  // namespace tracedb
