-- title: Metrics that Nsight Compute has measured
--
-- What can be given to ncu_series, ncu_overlay and ncu_attribute, with what it means where the
-- output of ncu --query-metrics was ingested too: is_described is 0 for a metric that is in no such
-- list. A metric's description is that of its name without the last parts (.sum.per_second).
--
-- param:  like  text = null  Only metrics with this in their names; all when null.
-- param:  run   text = null  This run only; all of them when null.
--
-- column: run           text         The run.
-- column: metric        text         Its name.
-- column: section       text         Of files of --page details: the section it stands in.
-- column: unit          text         In base units.
-- column: kernels       int(count)   Kernels with it.
-- column: numbers       int(count)   Of those, with a number.
-- column: least         real(count)  The least number, in base units.
-- column: most          real(count)  The largest.
-- column: is_described  int(0..1)    1: a list of metrics has it. Empty: there is no list.
-- column: description   text         What it means.
--
-- about:  Nsight Compute
-- empty:  No metrics of Nsight Compute are in the database: ingest what ncu --csv --page raw
--         prints.
-- lead:   metric, unit, kernels, least, most, description

WITH listed AS MATERIALIZED (
  SELECT run, metric, section, unit_si, count(*) AS kernels, count(value) AS numbers,
         min(value_si) AS least, max(value_si) AS most
  FROM ncu_metrics
  WHERE (:like IS NULL OR instr(metric, :like) > 0) AND (:run IS NULL OR run = :run)
  GROUP BY run, metric, section, unit_si
),
described AS MATERIALIZED (
  SELECT metric, min(description) AS description FROM ncu_metric_descriptions GROUP BY metric
),
base AS (  -- l1tex__m_bytes of l1tex__m_bytes.sum.per_second; all in front of the first full stop
  SELECT *, iif(instr(metric, '.') > 0, substr(metric, 1, instr(metric, '.') - 1), metric) AS plain
  FROM listed
)
SELECT
  b.run,
  b.metric,
  b.section,
  b.unit_si AS unit,
  b.kernels,
  b.numbers,
  b.least,
  b.most,
  iif((SELECT count(*) FROM described) = 0, NULL, d.metric IS NOT NULL) AS is_described,
  d.description
FROM base b
LEFT JOIN described d ON d.metric = b.plain
ORDER BY b.run, b.metric, b.section, b.unit_si;
