-- title: Numbers of Nsight Compute in another locale's form
--
-- ncu writes numbers as the locale says: 67,116,800 or 67.116.800, 9.00 or 9,00. The first number
-- of a file that can be read in one way only decides for all of it. Numbers such as 1,234 in a
-- file where none decides, and those in the form of the other locale, are not read.
--
-- meaning: Numbers that are not read have no value in ncu_metrics, and are in no sum; value_text
--   has them. Where commas are decimal marks nothing is wrong if the evidence is right.
-- advice: Export the report again with LC_ALL=C in the environment.
--
-- column: severity          text        finding where numbers were not read, else note.
-- column: run               text        The run.
-- column: count             int(count)  Numbers that were not read; else 1: this file.
-- column: decimal_mark      text        Of the file; empty: no number told.
-- column: decimal_evidence  text        The number that told.
-- column: path              text        The file.
-- column: source_id         int(id)     Its number in sources.
--
-- empty:  All numbers of Nsight Compute are in the form of the C locale.

SELECT
  iif(unread_numbers > 0, 'finding', 'note') AS severity,
  run,
  iif(unread_numbers > 0, unread_numbers, 1) AS count,
  decimal_mark,
  decimal_evidence,
  path,
  source_id
FROM ncu_files
WHERE unread_numbers > 0 OR decimal_mark = ','
GROUP BY source_id
ORDER BY severity, run, path, source_id;
