-- What NCCL Inspector has written: collectives of the ranks of a job.

CREATE TABLE _inspector_communicator (  -- as one process sees it
  source_id INTEGER,
  communicator INTEGER,        -- number in the file; one communicator may have several
  id TEXT,                     -- as in the file: 0x9e7a479f95a66c
  name TEXT,
  rank INTEGER,                -- in this communicator
  ranks INTEGER,
  nodes INTEGER,
  host TEXT,
  pid INTEGER,
  version TEXT,                -- of the format
  git_rev TEXT,
  mechanism TEXT,
  PRIMARY KEY (source_id, communicator)
) WITHOUT ROWID;
CREATE TABLE _inspector_operation (
  source_id INTEGER,
  operation INTEGER,           -- number in the file
  is_p2p INTEGER,
  name TEXT,                   -- AllReduce, Send
  peer INTEGER,                -- of a send or recv
  timing_source TEXT,          -- where exec_us comes from: kernel_gpu
  algorithm TEXT,
  protocol TEXT,
  channels INTEGER,
  PRIMARY KEY (source_id, operation)
) WITHOUT ROWID;
CREATE TABLE _inspector_collective (
  source_id INTEGER,
  communicator INTEGER,        -- in _inspector_communicator
  operation INTEGER,           -- in _inspector_operation
  sn INTEGER,                  -- its number among those of its name in the communicator
  bytes INTEGER,
  exec_us REAL,
  algbw_gbps REAL,
  busbw_gbps REAL,
  dump_ns INTEGER,             -- Unix time at which it was written, later than it ended
  kernel_start_ns INTEGER,     -- of verbose records: Unix times by the host's clock
  kernel_end_ns INTEGER,
  call_ns INTEGER,
  call_end_ns INTEGER,
  others TEXT                  -- other keys: "key":value,...
);
CREATE TABLE _inspector_dump (
  source_id INTEGER,
  communicator INTEGER,
  dump_ns INTEGER,
  collectives INTEGER,         -- written
  collectives_dropped INTEGER, -- since the dump before: the plugin had no room for them
  p2ps INTEGER,
  p2ps_dropped INTEGER
);
