-- Ranges by text and style.
SELECT sum(n.end - n.start) AS "Total Time (ns)", count(*) AS "Instances",
       max(n.end - n.start) AS "Max (ns)", replace(e.name, 'Nvtx', '') AS "Style",
       coalesce(n.text, s.value) AS "Range"
FROM NVTX_EVENTS AS n
JOIN ENUM_NSYS_EVENT_TYPE AS e ON e.id = n.eventType
LEFT JOIN StringIds AS s ON n.textId = s.id
WHERE n.eventType IN (59, 60, 70, 71) AND n.end IS NOT NULL
GROUP BY coalesce(n.text, s.value), n.eventType
ORDER BY 1 DESC, 5;
