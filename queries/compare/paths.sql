-- title: The tree of what launched something, as compare takes it
--
-- One row for each node of the tree of call_paths, those above before those below them.
--
-- param:  run  text  = null  This run only; all of them when null.
--
-- column: run        text     The run: one training job that was recorded.
-- column: path_id    int(id)  In call_paths.
-- column: parent_id  int(id)  In call_paths; NULL: the outermost.
-- column: kind       text     operator, annotation, function (of Python) or module (nn.Module).
-- column: name       text     As the trace has it.
--
-- empty:  No GPU activity has a launch in the database.

SELECT t.run, c.path_id, c.parent_id, c.kind, c.name
FROM call_paths c JOIN traces t ON t.trace_id = c.trace_id
WHERE :run IS NULL OR t.run = :run
ORDER BY c.path_id;
