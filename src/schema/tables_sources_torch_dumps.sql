-- What PyTorch itself dumps beside traces: memory snapshots, the memory timeline, and what the
-- flight recorder knows of collectives.

CREATE TABLE _dump_stack (
  source_id INTEGER, stack_id INTEGER,
  frames TEXT,                    -- "function (file:line)", a line each, the innermost first
  PRIMARY KEY (source_id, stack_id)
) WITHOUT ROWID;

CREATE TABLE _memory_segment (
  source_id INTEGER, segment_id INTEGER, device INTEGER, address INTEGER, total_bytes INTEGER,
  allocated_bytes INTEGER, active_bytes INTEGER, requested_bytes INTEGER, stream INTEGER,
  segment_type TEXT, is_expandable INTEGER,
  stack_id INTEGER,               -- in _dump_stack
  others TEXT                     -- JSON of its other keys
);
CREATE TABLE _memory_block (
  source_id INTEGER, block_id INTEGER, segment_id INTEGER, address INTEGER, bytes INTEGER,
  requested_bytes INTEGER, state TEXT, stack_id INTEGER
);
CREATE TABLE _memory_trace_entry (
  source_id INTEGER, entry_id INTEGER, device INTEGER, action TEXT, address INTEGER,
  bytes INTEGER, stream INTEGER, at_ns INTEGER, device_free_bytes INTEGER, stack_id INTEGER,
  others TEXT
);
CREATE TABLE _memory_snapshot_note (
  source_id INTEGER, name TEXT,
  value                           -- of the dump's other keys; JSON where it is no number or text
);

CREATE TABLE _memory_category (
  source_id INTEGER, moment INTEGER, at_ns INTEGER, parameter INTEGER, optimizer_state INTEGER,
  input INTEGER, temporary INTEGER, activation INTEGER, gradient INTEGER, autograd_detail INTEGER,
  unknown INTEGER
);
CREATE TABLE _memory_category_event (
  source_id INTEGER, event_id INTEGER, at_ns INTEGER,
  action INTEGER,                 -- 1 preexisting, 2 create, 3 increment version, 4 destroy
  bytes INTEGER, category INTEGER -- as the columns of _memory_category, from 0
);

CREATE TABLE _flight_group (
  source_id INTEGER, group_name TEXT, description TEXT,
  ranks TEXT,                     -- JSON list; NULL: not told
  last_enqueued INTEGER, last_started INTEGER, last_completed INTEGER, others TEXT
);
CREATE TABLE _flight_record (
  source_id INTEGER, record_id INTEGER, group_name TEXT, description TEXT, pg_id INTEGER,
  collective_seq INTEGER, p2p_seq INTEGER, op_id INTEGER, name TEXT, state TEXT, is_p2p INTEGER,
  input_sizes TEXT, input_dtypes TEXT, output_sizes TEXT, output_dtypes TEXT,
  created_ns INTEGER, started_ns INTEGER, completed_ns INTEGER, duration_ms REAL,
  timeout_ms INTEGER, retired INTEGER, stack_id INTEGER, others TEXT
);
