#include "tracedb/shell/shell_command.h"

#include <fmt/format.h>
#include <unistd.h>

#include <memory>
#include <utility>

#include "shell/line_reader.h"
#include "shell/name_completion.h"
#include "shell/shell_session.h"
#include "tracedb/query/run/query_database.h"
#include "tracedb/text/result_text.h"

namespace tracedb {
namespace {

// A person is told what went wrong.
Status After(Status done, const ShellOptions& options) {
  if (done.ok()) return done;
  // Nobody reads any more, be it a pager that was left: the next line may be read again.
  if (done.error().kind == ErrorKind::kClosed) return Done{};
  if (options.take_stop()) {
    options.say("stopped");
    return Done{};
  }
  options.say_error(done.error());
  return Done{};
}

Status ReadAll(LineReader& lines, bool is_person, const ShellOptions& options,
               ShellSession& session) {
  int number = 0;
  const auto after = [&](Status done) {
    if (done.ok() || is_person) return After(std::move(done), options);
    Error error = std::move(done).error();  // a script ends with it
    if (error.kind != ErrorKind::kClosed) {
      error.what = fmt::format("standard input:{}: {}", number, error.what);
    }
    return Status(std::move(error));
  };
  while (!session.is_over()) {
    TRACEDB_ASSIGN(line, lines.Read(session.is_pending() ? "    ...> " : "tracedb> "));
    switch (line.what) {
      case TypedLine::What::kEnd:
        return after(session.Finish());
      case TypedLine::What::kInterrupted:
        options.take_stop();
        if (!is_person) return Error{ErrorKind::kInput, "interrupted", ""};
        session.DropPending();
        break;
      case TypedLine::What::kLine:
        ++number;
        TRACEDB_TRY(after(session.Take(line.text)));
        break;
    }
  }
  return Done{};
}

}  // namespace

Status RunShell(const ShellOptions& options, const QueryCatalog& catalog) {
  {
    // What is wrong with the database is said before the first line.
    TRACEDB_ASSIGN(db, OpenTraceDatabase(options.query.database));
    TRACEDB_ASSIGN(traces, db.Integer("SELECT count(*) FROM traces"));
    if (isatty(STDIN_FILENO) == 1 && !options.query.quiet) {
      options.say(fmt::format("{}, {}: {} trace{}; .help says what there is, ctrl-D ends",
                              options.version, ShownText(options.query.database.string()), traces,
                              traces == 1 ? "" : "s"));
    }
  }
  ShellSession session(options, catalog);
  if (isatty(STDIN_FILENO) != 1) {
    return ReadAll(*ReadPlainLines(STDIN_FILENO), false, options, session);
  }
  TRACEDB_ASSIGN(names, NameCompletion::Of(catalog));
  const auto complete = [&names](std::string_view before, std::string_view begun) {
    return names.Names(before, begun);
  };
  const auto lines = ReadTypedLines(complete, options.take_stop);
  return ReadAll(*lines, true, options, session);
}

}  // namespace tracedb
