-- title: A metric of Nsight Compute as text, a line a kernel
--
-- "Kernel ID 5: 37888 byte". What is no number stands as it is written: the attributes of a device
-- or a launch, such as launch__func_cache_config.
--
-- param:  metric  text  = gpu__time_duration.sum  As in the file: dram__bytes_read.sum, say
-- param:  run     text    = null  This run only; all of them when null.
-- param:  rank    ints(id) = null  These ranks only; all of them when null.
--
-- column: run     text         The run.
-- column: rank    int(id)      The rank, where the file's name tells it.
-- column: kernel  int(id)      The kernel's number in the order of the rank.
-- column: line    text         Kernel ID, value and unit.
-- column: name    text         The kernel.
-- column: value   real(count)  The value in the unit as written; empty where it is no number.
-- column: unit    text         That unit.
--
-- about:  Nsight Compute
-- empty:  No kernel has this metric; `tracedb query ncu_metric_list` tells what there is.

WITH first AS (
  SELECT run, rank, kernel, name, value, value_text, unit,
         row_number() OVER (PARTITION BY run, rank, kernel, name ORDER BY source_id, section) AS nth
  FROM ncu_metrics
  WHERE metric = :metric AND (:run IS NULL OR run = :run)
    AND (:rank IS NULL OR rank IN (SELECT value FROM json_each(:rank)))
)
SELECT
  run,
  rank,
  kernel,
  'Kernel ID ' || kernel || ': ' || ifnull(value, value_text) || iif(unit = '', '', ' ' || unit)
    AS line,
  name,
  CAST(value AS REAL) AS value,
  unit
FROM first
WHERE nth = 1
ORDER BY run, rank, kernel, name;
