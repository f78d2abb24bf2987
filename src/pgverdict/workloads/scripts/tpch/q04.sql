-- Order priority: orders of a quarter with a line that was received later than it was committed to.
SELECT o_orderpriority, count(*) AS orders
FROM orders
WHERE o_orderdate >= cast(:date AS date)
  AND o_orderdate < cast(:date AS date) + interval '3 months'
  AND EXISTS (
      SELECT FROM lineitem WHERE l_orderkey = o_orderkey AND l_commitdate < l_receiptdate
  )
GROUP BY o_orderpriority
ORDER BY o_orderpriority;
