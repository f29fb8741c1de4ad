-- What training logs say.

CREATE VIEW log_iterations AS
-- An iteration's line of a training log.
--   run: a name in runs
--   iteration: its number
--   at_ns: when the line was printed; NULL: it does not say so
--   elapsed_ms: time of an iteration; Megatron-LM's mean over its log interval
--   loss: lm loss, or what the log calls loss
--   grad_norm: norm of the gradients
--   tflops: TFLOP/s of a GPU, as the log has it
--   fields: all of the line as a JSON object, numbers as written
--   iterations: how many there are to be
--   learning_rate: as the log has it
--   batch_size: samples in an iteration
--   samples: consumed so far
--   tokens: consumed so far
--   units: JSON object of the units of fields that have one
--   rank: of which rank, where the line says it
--   writer: the line's prefix: "0" of srun -l, "default0" of torchrun
--   after_ns: the last time in the log before the line
--   line: its number in the log
--   source_id: in sources
--   run_id: in runs
SELECT r.run, i.iteration, i.at_ns, i.elapsed_ms, i.loss, i.grad_norm, i.tflops,
       (SELECT json_group_object(n.value, json(i.numbers -> ('$[' || n.key || ']')))
        FROM _log_names m, json_each(m.names) n
        WHERE m.source_id = i.source_id AND m.names_id = i.names_id) AS fields,
       i.iterations, i.learning_rate, i.batch_size, i.samples, i.tokens,
       (SELECT m.units FROM _log_names m
        WHERE m.source_id = i.source_id AND m.names_id = i.names_id) AS units,
       i.rank, i.writer, i.after_ns, i.line, i.source_id, s.run_id
FROM _log_iteration i LEFT JOIN _source s ON s.source_id = i.source_id
     LEFT JOIN _run r ON r.run_id = s.run_id;

CREATE VIEW log_evaluations AS
-- A line of a training log with the loss on other data.
--   run: a name in runs
--   iteration: after which
--   dataset: which data, where the line says it
--   at_ns: when it was printed; NULL: it does not say so
--   fields: all of the line as a JSON object, numbers as written
--   rank: of which rank, where the line says it
--   writer: the line's prefix
--   line: its number in the log
--   source_id: in sources
SELECT r.run, i.iteration, i.dataset, i.at_ns,
       (SELECT json_group_object(n.value, json(i.numbers -> ('$[' || n.key || ']')))
        FROM _log_names m, json_each(m.names) n
        WHERE m.source_id = i.source_id AND m.names_id = i.names_id) AS fields,
       i.rank, i.writer, i.line, i.source_id
FROM _log_evaluation i LEFT JOIN _source s ON s.source_id = i.source_id
     LEFT JOIN _run r ON r.run_id = s.run_id;

CREATE VIEW log_timers AS
-- A timer of the training program, as its log has it. A number beyond 1e11 ms is a time since
-- 1970 that got among the durations: then is_epoch is 1, and the times are NULL.
--   run: a name in runs
--   iteration: that of the last line before it; NULL: none, or it cannot be told
--   name: the timer
--   rank: whose time it is, where the log says it
--   ms: of that rank, or of the one that printed it; NULL: there are min_ms and max_ms
--   min_ms: least over the ranks
--   max_ms: most over the ranks
--   is_epoch: 1: the number is no duration
--   written: the number or numbers as they stand there
--   at_ns: when it was printed
--   writer: the line's prefix
--   line: of the block's first line in the log
--   source_id: in sources
--   run_id: in runs
SELECT r.run, t.iteration, t.name, t.rank,
       CASE WHEN t.form = 0 AND t.one <= 1e11 THEN t.one END AS ms,
       CASE WHEN t.form = 1 AND t.one <= 1e11 AND t.two <= 1e11 THEN t.one END AS min_ms,
       CASE WHEN t.form = 1 AND t.one <= 1e11 AND t.two <= 1e11 THEN t.two
            WHEN t.form = 2 AND t.one <= 1e11 THEN t.one END AS max_ms,
       CASE WHEN t.form = 1 THEN t.one > 1e11 OR t.two > 1e11 ELSE t.one > 1e11 END AS is_epoch,
       t.written, t.at_ns, t.writer, t.line, t.source_id, s.run_id
FROM (SELECT u.source_id, u.iteration, u.rank, u.form, u.at_ns, u.writer, u.line, u.name,
             json_extract(u.numbers, '$[' || u.place || ']') AS one,
             CASE WHEN u.form = 1
                  THEN json_extract(u.numbers, '$[' || (u.place + 1) || ']') END AS two,
             CASE WHEN u.form = 1
                  THEN CAST(u.numbers -> ('$[' || u.place || ']') AS TEXT) || ', '
                       || CAST(u.numbers -> ('$[' || (u.place + 1) || ']') AS TEXT)
                  ELSE CAST(u.numbers -> ('$[' || u.place || ']') AS TEXT) END AS written
      FROM (SELECT l.source_id, l.iteration, l.rank, l.form, l.numbers, l.at_ns, l.writer, l.line,
                   m.names ->> ('$[' || n.key || ']') AS name,
                   CASE WHEN l.form = 1 THEN 2 ELSE 1 END * CAST(n.key AS BIGINT) AS place
            FROM _log_timer l
                 JOIN _log_names m ON m.source_id = l.source_id AND m.names_id = l.names_id
                 CROSS JOIN json_each(m.names) n
            WHERE l.form < 3) u) t
     LEFT JOIN _source s ON s.source_id = t.source_id LEFT JOIN _run r ON r.run_id = s.run_id
UNION ALL
SELECT r.run, t.iteration, m.names ->> '$[0]',
       CAST(json_extract(t.numbers, '$[' || (2 * CAST(n.key AS BIGINT)) || ']') AS BIGINT),
       CASE WHEN json_extract(t.numbers, '$[' || (2 * CAST(n.key AS BIGINT) + 1) || ']') <= 1e11
            THEN json_extract(t.numbers, '$[' || (2 * CAST(n.key AS BIGINT) + 1) || ']') END,
       NULL, NULL,
       json_extract(t.numbers, '$[' || (2 * CAST(n.key AS BIGINT) + 1) || ']') > 1e11,
       CAST(t.numbers -> ('$[' || (2 * CAST(n.key AS BIGINT) + 1) || ']') AS TEXT), t.at_ns,
       t.writer, t.line, t.source_id, s.run_id
FROM _log_timer t JOIN _log_names m ON m.source_id = t.source_id AND m.names_id = t.names_id
     CROSS JOIN json_each(t.numbers) n
     LEFT JOIN _source s ON s.source_id = t.source_id LEFT JOIN _run r ON r.run_id = s.run_id
WHERE t.form = 3 AND 2 * CAST(n.key AS BIGINT) < json_array_length(t.numbers);

CREATE VIEW log_timer_slices AS
-- One call of a timer, where the log has the times of calls (start time lst, end time lst).
--   run: a name in runs
--   iteration: after whose line it was printed
--   name: the timer
--   rank: whose
--   ordinal: calls of that timer since the iteration's line before, from 1
--   start_ns: Unix time
--   end_ns: Unix time
--   line: in the log
--   source_id: in sources
SELECT r.run, t.iteration, t.name, t.rank, t.ordinal, t.start_ns, t.end_ns, t.line, t.source_id
FROM _log_timer_slice t LEFT JOIN _source s ON s.source_id = t.source_id
     LEFT JOIN _run r ON r.run_id = s.run_id;

CREATE VIEW log_memory AS
-- A number of a GPU's memory in a training log.
--   run: a name in runs
--   iteration: after which
--   name: allocated, max allocated, reserved, max reserved; others as written
--   mb: as the log has it: MiB
--   rank: whose, where the line says it
--   at_ns: when it was printed
--   writer: the line's prefix
--   line: its number in the log
--   source_id: in sources
--   run_id: in runs
SELECT r.run, m.iteration, m.name, m.mb, m.rank, m.at_ns, m.writer, m.line, m.source_id, s.run_id
FROM _log_memory m LEFT JOIN _source s ON s.source_id = m.source_id
     LEFT JOIN _run r ON r.run_id = s.run_id;

CREATE VIEW log_arguments AS
-- An argument of the training program, or the version of a part of it, from its log.
--   run: a name in runs
--   name: of the argument
--   value: as written
--   section: arguments; environment: a line of dots outside that block
--   rank: whose, where the line says it
--   line: the first that says so
--   source_id: in sources
--   run_id: in runs
SELECT r.run, a.name, a.value, a.section, a.rank, a.line, a.source_id, s.run_id
FROM _log_argument a LEFT JOIN _source s ON s.source_id = a.source_id
     LEFT JOIN _run r ON r.run_id = s.run_id;

CREATE VIEW log_events AS
-- A moment that a training log names: "[after training is done] datetime: ...", the profiler's
-- STAGE lines.
--   run: a name in runs
--   at_ns: when
--   name: what
--   pid: of the process, in the profiler's lines; a trace of that process has it in processes
--   iteration: the last one before it
--   rank: whose, where the line says it
--   line: its number in the log
--   source_id: in sources
--   run_id: in runs
SELECT r.run, e.at_ns, e.name, e.pid, e.iteration, e.rank, e.line, e.source_id, s.run_id
FROM _log_event e LEFT JOIN _source s ON s.source_id = e.source_id
     LEFT JOIN _run r ON r.run_id = s.run_id;

CREATE VIEW log_stragglers AS
-- A number of a straggler report.
--   run: a name in runs
--   at_ns: when
--   name: MnRtt, MxRtt, MnEtpt ..., or the title of a list of ranks
--   value: the number
--   unit: as written: ms, TF
--   rank: whose number it is
--   iteration: the last one before it
--   line: its number in the log
--   source_id: in sources
SELECT r.run, e.at_ns, e.name, e.value, e.unit, e.of_rank AS rank, e.iteration, e.line,
       e.source_id
FROM _log_straggler e LEFT JOIN _source s ON s.source_id = e.source_id
     LEFT JOIN _run r ON r.run_id = s.run_id;

CREATE VIEW log_messages AS
-- What went wrong, as a training log says it: of each kind the first and the last line, and the
-- last lines of the log.
--   run: a name in runs
--   kind: out of memory, traceback, error, warning, nan, killed, timeout, crash, an exception's
--         name; last lines
--   position: first, last; end: one of the last lines
--   count: lines of that kind; of all that are not empty
--   text: up to 500 bytes of it
--   iteration: the last one before it
--   at_ns: when, where the line says it
--   after_ns: the last time in the log before it
--   rank: whose, where the line says it
--   writer: the line's prefix
--   line: its number in the log
--   source_id: in sources
--   run_id: in runs
SELECT r.run, e.kind, e.position, e.count, e.text, e.iteration, e.at_ns, e.after_ns, e.rank,
       e.writer, e.line, e.source_id, s.run_id
FROM _log_message e LEFT JOIN _source s ON s.source_id = e.source_id
     LEFT JOIN _run r ON r.run_id = s.run_id;

CREATE VIEW log_steps AS
-- Which profiled step an iteration of a training log is. The line of an iteration is printed near
-- the end of one step, and the difference of the two numbers is the same for all steps of a
-- capture. A log in local time is moved by whole quarter hours until that holds; a move that is not
-- the only one to do so is a guess.
--   run: a name in runs
--   capture: its number in the run
--   source_id: the log, in sources
--   iteration: its number in the log
--   step: the number in ProfilerStep#N
--   step_ns: duration of the step, the longest of all ranks
--   after_ns: from the end of the step, the last of all ranks, to the line
--   moved_ns: what was added to the trace's times to meet the log
--   moves: how many moves would do; 1: it is sure
--   run_id: in runs
WITH RECURSIVE step AS (
  SELECT t.run_id, r.run, c.capture, coalesce(c.capture, 0) AS capture_key, s.step,
         max(s.ts_ns + s.dur_ns) AS end_ns, max(s.dur_ns) AS dur_ns
  FROM steps s JOIN _trace t ON t.trace_id = s.trace_id JOIN _run r ON r.run_id = t.run_id
       LEFT JOIN _capture c ON c.capture_id = t.capture_id
  WHERE s.dur_ns > 0
  GROUP BY t.run_id, r.run, c.capture, s.step
),
line AS (
  SELECT i.source_id, s.run_id, i.iteration, min(i.at_ns) AS at_ns,
         max(ifnull(s.time_source, '') = 'local time, zone unknown') AS is_local
  FROM _log_iteration i JOIN _source s ON s.source_id = i.source_id
  WHERE s.run_id IN (SELECT run_id FROM step) AND i.at_ns IS NOT NULL
  GROUP BY i.source_id, s.run_id, i.iteration
),
span AS (
  SELECT source_id, run_id, min(at_ns) AS first_ns, max(at_ns) AS last_ns, max(is_local) AS is_local
  FROM line GROUP BY source_id, run_id
),
quarter AS (SELECT -56 AS n UNION ALL SELECT n + 1 FROM quarter WHERE n < 56),
offered AS (
  SELECT p.source_id, c.run_id, c.run, c.capture, q.n * 900000000000 AS moved_ns
  FROM (SELECT run_id, run, capture, min(end_ns) AS first_ns, max(end_ns) AS last_ns,
               max(dur_ns) AS dur_ns FROM step GROUP BY run_id, run, capture) c
       JOIN span p ON p.run_id = c.run_id JOIN quarter q ON q.n = 0 OR p.is_local
  WHERE c.first_ns + q.n * 900000000000 >= p.first_ns - c.dur_ns
    AND c.last_ns + q.n * 900000000000 <= p.last_ns + c.dur_ns
),
moment AS (  -- all moves at once: a log may have a million lines
  SELECT o.source_id, o.run_id, o.run, o.capture, o.moved_ns, s.step,
         s.end_ns + o.moved_ns AS at_ns, s.dur_ns, CAST(NULL AS BIGINT) AS line_ns
  FROM offered o JOIN step s ON s.run_id = o.run_id
            AND s.capture_key = coalesce(o.capture, 0)
  UNION ALL
  SELECT source_id, NULL, NULL, NULL, NULL, NULL, at_ns, NULL, at_ns FROM line
  WHERE source_id IN (SELECT source_id FROM offered)
),
placed AS (
  SELECT source_id, run_id, run, capture, moved_ns, step, at_ns, dur_ns,
         max(line_ns) OVER (PARTITION BY source_id ORDER BY at_ns, line_ns) AS low_ns,
         min(line_ns) OVER (PARTITION BY source_id ORDER BY at_ns DESC, line_ns DESC) AS high_ns
  FROM moment
),
nearest AS MATERIALIZED (
  SELECT source_id, run_id, run, capture, moved_ns, step, at_ns, dur_ns,
         CASE WHEN high_ns IS NULL OR at_ns - low_ns <= high_ns - at_ns THEN low_ns
              ELSE high_ns END AS line_ns
  FROM placed WHERE step IS NOT NULL
),
paired AS (
  SELECT p.source_id, p.run_id, p.run, p.capture, p.moved_ns, p.step, p.dur_ns,
         l.at_ns - p.at_ns AS after_ns, l.iteration
  FROM nearest p JOIN line l ON l.source_id = p.source_id AND l.at_ns = p.line_ns
),
fit AS (
  SELECT source_id, capture, moved_ns, avg(abs(after_ns) * 1.0 / dur_ns) AS away
  FROM paired GROUP BY source_id, capture, moved_ns
  HAVING min(iteration - step) = max(iteration - step)
     AND max(abs(after_ns) * 1.0 / dur_ns) < 0.1
),
chosen AS (
  SELECT source_id, capture, moved_ns, count(*) OVER (PARTITION BY source_id, capture) AS moves,
         row_number() OVER (PARTITION BY source_id, capture
                            ORDER BY moved_ns <> 0, away, abs(moved_ns), moved_ns) AS place
  FROM fit
)
SELECT p.run, p.capture, p.source_id, p.iteration, p.step, p.dur_ns AS step_ns, p.after_ns,
       p.moved_ns, c.moves, p.run_id
FROM paired p JOIN chosen c ON c.source_id = p.source_id
     AND coalesce(c.capture, 0) = coalesce(p.capture, 0) AND c.moved_ns = p.moved_ns
     AND c.place = 1;
