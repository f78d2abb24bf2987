-- Shipping modes: late lines of a year, shipped before they were committed to, of urgent and of other orders.
SELECT l_shipmode,
       sum(CASE WHEN o_orderpriority IN ('1-URGENT', '2-HIGH') THEN 1 ELSE 0 END) AS high_line_count,
       sum(CASE WHEN o_orderpriority NOT IN ('1-URGENT', '2-HIGH') THEN 1 ELSE 0 END) AS low_line_count
FROM lineitem
JOIN orders ON o_orderkey = l_orderkey
WHERE l_shipmode IN (:shipmode1, :shipmode2)
  AND l_shipdate < l_commitdate
  AND l_commitdate < l_receiptdate
  AND l_receiptdate >= cast(:date AS date)
  AND l_receiptdate < cast(:date AS date) + interval '1 year'
GROUP BY l_shipmode
ORDER BY l_shipmode;
