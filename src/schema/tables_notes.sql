-- What the header, metadata and counts tell of a trace, what is known of its memory events, and,
-- in a gathered database, of its steps.

CREATE TABLE _process (
  trace_id INTEGER, rank INTEGER, pid TEXT, name TEXT, sort_index INTEGER, labels TEXT);
CREATE TABLE _thread (
  trace_id INTEGER, rank INTEGER, pid TEXT, tid TEXT, name TEXT, sort_index INTEGER);
CREATE TABLE _issue (
  trace_id INTEGER, kind TEXT, count INTEGER,
  first_offset INTEGER,           -- bytes from the start of the unpacked JSON
  first_excerpt TEXT
);

CREATE TABLE _memory_piece (
  -- Up to 64 memory events of one thread and device that come one after the other: few questions
  -- need each of them. Where a value is NULL, it is so in all of them.
  trace_id INTEGER,
  track INTEGER,
  args_text INTEGER,              -- it tells the device
  first_id INTEGER,               -- first and last event, in _instant; others may be in between
  last_id INTEGER,
  is_odd INTEGER,                 -- 1: the rest says nothing, its events must be read
  events INTEGER,
  start_ts INTEGER,               -- least ts
  start_id INTEGER,               -- the first event at it
  end_ts INTEGER,                 -- greatest ts
  end_id INTEGER,                 -- the last event at it
  min_allocated INTEGER,          -- of total_allocated
  max_allocated INTEGER,
  min_reserved INTEGER,           -- of total_reserved
  max_reserved INTEGER,
  allocations INTEGER,            -- events with bytes above 0
  releases INTEGER,               -- below 0
  taken_bytes INTEGER,            -- sum of bytes above 0
  sum_bytes INTEGER,              -- of all
  largest_bytes INTEGER
);

CREATE TABLE _step_last (
  -- GPU activities that were launched in a step. Of a gathered database alone, which has few of
  -- these activities themselves.
  trace_id INTEGER,
  device INTEGER,
  step INTEGER,                   -- NULL: in none
  activities INTEGER,
  begin_ns INTEGER,               -- the first launch of one, or its start
  start_ns INTEGER,               -- the first start
  end_ns INTEGER,                 -- the last end
  busy_ns INTEGER                 -- in which something ran from the step's start to start_ns; NULL:
                                  -- no step has the number, or several
);
