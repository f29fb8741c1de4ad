-- Samples of GPUs: utilisation, memory, power, clocks over time, as nvidia-smi, dmon and gpustat
-- print them.

CREATE TABLE _gpu_sample_zone (
  -- What makes the local times of a source Unix time: unix = local - utc_offset_ns.
  source_id INTEGER,
  utc_offset_ns INTEGER,          -- NULL: unknown
  time_source TEXT,               -- zone given, guessed by load, guessed by log, zone unknown, date
                                  -- unknown, or no times
  host TEXT                       -- of the GPUs: as the file, its name or its run tells
);
CREATE TABLE _gpu_sample_name (
  source_id INTEGER, name_id INTEGER,
  name TEXT,                      -- as the tool calls it
  quantity TEXT,                  -- what it is, in words that all tools share
  unit TEXT
);
CREATE TABLE _gpu_moment (
  -- One GPU at one time: a line of the file.
  source_id INTEGER,
  moment INTEGER,                 -- its number in the source, from 1
  gpu INTEGER,
  local_ns INTEGER,               -- since 1970, as if local time were UTC
  PRIMARY KEY (source_id, moment)
) WITHOUT ROWID;
CREATE TABLE _gpu_sample (
  source_id INTEGER, moment INTEGER, name_id INTEGER,
  value,                          -- a number, or a text: then where it differs from the one before
  PRIMARY KEY (source_id, moment, name_id)
) WITHOUT ROWID;

CREATE TABLE _gpu_sample_run (
  -- Stretches of time in which one run alone is known to have been at work: of which run samples
  -- are that lie beside several.
  run_id INTEGER, start_ns INTEGER, end_ns INTEGER
);
