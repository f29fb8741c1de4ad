// What operators compute and move, in SQL; in the program and as a loadable extension.
//
//   op_cost(op, args, kernel, annotation)
//       JSON of what one call costs at least, by its name and args: flops, bytes, dtype (what is
//       multiplied), narrow (the smaller size of a product's result), sizes as text; each absent
//       where it is not known. NULL: no model for the operator, or sizes that cannot be. kernel:
//       the longest that it launches, annotation: the name of the one around it; both may be NULL,
//       and left out.
//   op_category(op), kernel_category(kernel)
//       GEMM, convolution, attention, norm, elementwise, reduction, embedding, optimizer,
//       communication or copy, by the name; NULL: it does not tell.
#pragma once

struct sqlite3;

namespace tracedb {

// A SQLite result code.
int RegisterCostFunctions(sqlite3* db);

}  // namespace tracedb
