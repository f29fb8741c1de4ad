-- title: Ranks without a summary in a gathered database
--
-- `tracedb gather` makes a database of what every rank left with `tracedb ingest --shard`. A rank
-- whose summary is not there, or cannot be read, is in none of its tables.
--
-- meaning: Whatever is said over all ranks is said without these: a collective that they came last
--   to has another culprit, and their own times are in no sum.
-- advice: Run tracedb ingest --shard again for these ranks, then tracedb gather.
--
-- column: severity  text        Always finding.
-- column: count     int(count)  Ranks: 1, but of those beyond the first thousand of a run all.
-- column: trouble   text        shard_missing or shard_broken.
-- column: excerpt   text        Which rank, of which run, and what is wrong.
--
-- empty:  All ranks are there, as far as summaries tell.

SELECT
  'finding' AS severity,
  i.count,
  i.kind AS trouble,
  i.first_excerpt AS excerpt
FROM issues i
WHERE i.kind IN ('shard_missing', 'shard_broken')
ORDER BY i.kind, i.first_excerpt;
