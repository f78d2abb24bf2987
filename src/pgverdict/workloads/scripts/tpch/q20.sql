-- Potential promotion: suppliers of a nation with more in stock than half of what a year shipped of a colour's parts.
SELECT s_name, s_address
FROM supplier
JOIN nation ON n_nationkey = s_nationkey
WHERE n_name = :nation
  AND s_suppkey IN (
      SELECT ps_suppkey
      FROM partsupp
      WHERE ps_partkey IN (SELECT p_partkey FROM part WHERE p_name LIKE :color || '%')
        AND ps_availqty > (
            SELECT 0.5 * sum(l_quantity)
            FROM lineitem
            WHERE l_partkey = ps_partkey
              AND l_suppkey = ps_suppkey
              AND l_shipdate >= cast(:date AS date)
              AND l_shipdate < cast(:date AS date) + interval '1 year'
        )
  )
ORDER BY s_name;
