-- What jobs were asked for.

CREATE VIEW job_settings AS
-- A setting of a job, from its batch file, its accounting, a file of variables, or its log.
--   run: a name in runs
--   kind: sbatch, pbs, sacct, variable; log: a block of variables in a training log
--   name: the option's long name, the column, or the variable
--   value: worked out ($((4 * 8)) is 32); NULL: empty, or not to be known from the file
--   written: as the file has it; secrets are not copied
--   item: of several in one file: the job step of sacct
--   path: of the file
--   line: its number there
--   source_id: in sources
--   run_id: in runs
SELECT r.run, j.kind, j.name, j.value, j.written, j.item, s.path, j.line, j.source_id, s.run_id
FROM _job_setting j LEFT JOIN _source s ON s.source_id = j.source_id
     LEFT JOIN _run r ON r.run_id = s.run_id;
