-- What a training log becomes. Each row says where it stands: the line's number, the last
-- iteration, its own time and the last one before it, and whose output it is.

-- Names that stand together in a line or block: most lines of a log have the same.
CREATE TABLE _log_names (
  source_id INTEGER,
  names_id INTEGER,               -- from 1 in a source
  names TEXT NOT NULL,            -- JSON array
  units TEXT                      -- JSON object by name, of those that have one
);
CREATE TABLE _log_iteration (
  source_id INTEGER, line INTEGER, iteration INTEGER, at_ns INTEGER, after_ns INTEGER,
  rank INTEGER, writer TEXT,
  iterations INTEGER,             -- of how many
  elapsed_ms REAL, loss REAL, grad_norm REAL, tflops REAL, learning_rate REAL, batch_size INTEGER,
  samples INTEGER, tokens INTEGER,
  names_id INTEGER,               -- in _log_names
  numbers TEXT NOT NULL           -- JSON array of the values as written
);
CREATE TABLE _log_evaluation (
  source_id INTEGER, line INTEGER, iteration INTEGER, at_ns INTEGER, after_ns INTEGER,
  rank INTEGER, writer TEXT,
  dataset TEXT,                   -- "validation set", "test set", where the line says it
  names_id INTEGER, numbers TEXT NOT NULL
);
-- A block of timers; of form 3 one timer.
CREATE TABLE _log_timer (
  source_id INTEGER, line INTEGER, iteration INTEGER, at_ns INTEGER, after_ns INTEGER,
  rank INTEGER, writer TEXT,
  form INTEGER,                   -- numbers are, by name: 0 one each, 1 min and max, 2 the max;
                                  -- 3: of one name, rank and time of each rank
  names_id INTEGER,               -- in _log_names
  numbers TEXT NOT NULL           -- JSON array, ms
);
CREATE TABLE _log_timer_slice (
  source_id INTEGER, line INTEGER, iteration INTEGER, at_ns INTEGER, after_ns INTEGER,
  rank INTEGER, writer TEXT,
  name TEXT, ordinal INTEGER,     -- calls since the last iteration's line, from 1
  start_ns INTEGER, end_ns INTEGER
);
CREATE TABLE _log_memory (
  source_id INTEGER, line INTEGER, iteration INTEGER, at_ns INTEGER, after_ns INTEGER,
  rank INTEGER, writer TEXT,
  name TEXT, mb REAL
);
-- The same name and value of a source are one row.
CREATE TABLE _log_argument (
  source_id INTEGER, line INTEGER, iteration INTEGER, at_ns INTEGER, after_ns INTEGER,
  rank INTEGER, writer TEXT,
  section TEXT, name TEXT, value TEXT
);
CREATE TABLE _log_event (
  source_id INTEGER, line INTEGER, iteration INTEGER, at_ns INTEGER, after_ns INTEGER,
  rank INTEGER, writer TEXT,
  name TEXT, pid INTEGER
);
CREATE TABLE _log_straggler (
  source_id INTEGER, line INTEGER, iteration INTEGER, at_ns INTEGER, after_ns INTEGER,
  rank INTEGER, writer TEXT,
  name TEXT, value REAL, unit TEXT, of_rank INTEGER
);
-- Of each kind the first and the last, and the last lines of all.
CREATE TABLE _log_message (
  source_id INTEGER, line INTEGER, iteration INTEGER, at_ns INTEGER, after_ns INTEGER,
  rank INTEGER, writer TEXT,
  kind TEXT, position TEXT,       -- first, last, end
  count INTEGER, text TEXT
);
