-- What else a job has left, in files that are no traces. The tables of each kind of them are in
-- tables_sources_*.sql; their rows carry the number of the file as source_id.

CREATE TABLE _source (
  source_id INTEGER PRIMARY KEY,
  kind TEXT NOT NULL,             -- as its reader is called: training log
  path TEXT NOT NULL,             -- as it was given to ingest
  folder TEXT NOT NULL,           -- absolute, in which the file is
  input_folder TEXT,              -- absolute, when a folder was given; NULL: the file itself was
  named_run TEXT,                 -- as --run says
  run_id INTEGER,                 -- NULL: its folder holds several runs
  host TEXT,                      -- where the file tells it
  rank INTEGER,
  file_bytes INTEGER NOT NULL,    -- as read, packed
  text_bytes INTEGER NOT NULL,    -- unpacked
  row_count INTEGER NOT NULL,     -- that it became
  complete INTEGER NOT NULL,      -- 0: its compression broke off
  start_ns INTEGER,               -- of its rows with a time
  end_ns INTEGER,
  time_source TEXT,               -- how these times are known to be Unix time, or not
  text_hash TEXT NOT NULL,        -- XXH3-128 of the unpacked text
  file_hash TEXT,                 -- XXH3-128 of the file as it is
  ingested_at TEXT NOT NULL       -- UTC
);
CREATE TABLE _source_issue (
  source_id INTEGER, kind TEXT, count INTEGER,
  first_offset INTEGER,           -- bytes from the start of the unpacked text
  first_excerpt TEXT
);
