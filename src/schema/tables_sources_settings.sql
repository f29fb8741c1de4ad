-- What a job was asked for: batch files, accounting, files of variables, and what logs say of them.
CREATE TABLE _job_setting (
  source_id INTEGER, line INTEGER, iteration INTEGER, at_ns INTEGER, after_ns INTEGER,
  rank INTEGER, writer TEXT,      -- these four of a log only
  kind TEXT,                      -- sbatch, pbs, sacct, variable, log
  name TEXT,
  value TEXT,                     -- worked out; NULL: it is empty, or cannot be known
  written TEXT,                   -- as the file has it
  item TEXT                       -- of several in one file: the job step of sacct
);
