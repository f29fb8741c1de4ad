-- What Nsight Compute has written: kernels with their metrics, and what metrics mean.

CREATE TABLE _ncu_file (
  source_id INTEGER,
  page TEXT,                   -- raw, details or metrics: descriptions alone
  kernels INTEGER,
  columns INTEGER,             -- metrics of the first table, as the columns of --page raw
  empty_cells INTEGER,         -- metrics that a kernel has no value of: they have no row
  decimal_mark TEXT,           -- '.' or ','; NULL when no number told
  decimal_evidence TEXT,       -- the number that told
  unread_numbers INTEGER,      -- with two readings, or in the form of another locale
  missing_ids INTEGER,         -- ids that the file leaves out between two of its kernels
  double_ids INTEGER,          -- kernels whose id is not above the one before
  name_order TEXT,             -- the file's path, in an order where 10 comes after 9
  name_number INTEGER          -- the last number in the file's name that is no rank
);
CREATE TABLE _ncu_process (    -- of one process on one device in a table of a file
  source_id INTEGER,
  process INTEGER,             -- number in the file, from 0
  process_id INTEGER,
  process_name TEXT,
  host TEXT,
  device TEXT,                 -- a number, or its name in older files
  cc TEXT,                     -- compute capability
  kernels INTEGER,
  first_id INTEGER,
  last_id INTEGER,
  table_no INTEGER,            -- files put behind one another are several tables
  metric_set TEXT,             -- hash of the metrics that ncu was asked for
  place INTEGER                -- number in the table by process id, then device, from 0
);
CREATE TABLE _ncu_kernel_name (
  source_id INTEGER,
  name_id INTEGER,             -- a name may have several
  name TEXT,
  base_name TEXT,              -- of the function alone, without namespaces and arguments
  PRIMARY KEY (source_id, name_id)
) WITHOUT ROWID;
CREATE TABLE _ncu_kernel (
  source_id INTEGER,
  kernel INTEGER,              -- number in the file, from 0
  process INTEGER,             -- in _ncu_process
  position INTEGER,            -- number among the kernels of its process, from 0
  id INTEGER,                  -- as the file has it
  name_id INTEGER,
  grid TEXT,                   -- [x,y,z], as in kernels
  block TEXT,
  context TEXT,
  stream TEXT,
  kernel_time TEXT,            -- when it ran, in older files: local time
  duration REAL,               -- gpu__time_duration.sum, as written
  duration_unit TEXT,
  dur_ns INTEGER,
  PRIMARY KEY (source_id, kernel)
) WITHOUT ROWID;
CREATE TABLE _ncu_metric_name (
  source_id INTEGER,
  metric_id INTEGER,           -- a metric may have several
  section TEXT,                -- of --page details
  metric TEXT,
  unit TEXT,                   -- as written
  unit_si TEXT,
  is_asked INTEGER,            -- 1: ncu was asked for it; 0: it adds it to every kernel
  PRIMARY KEY (source_id, metric_id)
) WITHOUT ROWID;
CREATE TABLE _ncu_metric (
  source_id INTEGER,
  kernel INTEGER,
  metric_id INTEGER,
  value,                       -- the number, in the unit as written; NULL: it is none
  text TEXT,                   -- as written; NULL: as value is
  value_si REAL                -- in base units; NULL: as value is
);
CREATE TABLE _ncu_rule (
  source_id INTEGER,
  kernel INTEGER,
  section TEXT,
  rule TEXT,
  type TEXT,
  description TEXT,
  speedup_type TEXT,
  speedup REAL
);
CREATE TABLE _ncu_metric_description (
  source_id INTEGER,
  metric TEXT,                 -- without its last parts: dram__bytes_read
  type TEXT,                   -- Counter, Ratio, Throughput
  unit TEXT,
  description TEXT,
  parts TEXT,                  -- .sum .sum.per_second, where the file lists them
  device TEXT
);
