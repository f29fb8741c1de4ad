// What SQLite's tables that take arguments have in common. Such a table is there by its name alone
// (eponymous), and its arguments are hidden columns after the others.
#pragma once

#include <sqlite3.h>

#include "tracedb/base/result.h"
#include "tracedb/base/run_caught.h"

namespace tracedb {

// Bit n of idxNum: argument n is given. Those that are given are handed to xFilter in their order.
// SQLITE_CONSTRAINT: they are not known in this order of the query's tables.
inline int TakeArguments(sqlite3_index_info* info, int columns, int arguments) {
  int given = 0;
  for (int argument = 0; argument < arguments; ++argument) {
    for (int i = 0; i < info->nConstraint; ++i) {
      const auto& constraint = info->aConstraint[i];
      if (constraint.iColumn != columns + argument || constraint.op != SQLITE_INDEX_CONSTRAINT_EQ) {
        continue;
      }
      if (!constraint.usable) return SQLITE_CONSTRAINT;
      if ((info->idxNum & 1 << argument) != 0) continue;
      info->aConstraintUsage[i].argvIndex = ++given;
      info->aConstraintUsage[i].omit = 1;
      info->idxNum |= 1 << argument;
    }
  }
  return SQLITE_OK;
}

// That memory cannot be had is no error of the query: whoever asks is to know.
inline int TableCode(const Status& status, sqlite3_vtab_cursor* cursor) {
  if (status.ok()) return SQLITE_OK;
  if (status.error().what.ends_with(kOutOfMemoryText)) return SQLITE_NOMEM;
  sqlite3_free(cursor->pVtab->zErrMsg);
  cursor->pVtab->zErrMsg = sqlite3_mprintf("%s", status.error().what.c_str());
  return SQLITE_ERROR;
}

}  // namespace tracedb
