-- Local supplier volume: revenue in a region and year where customer and supplier are of one nation.
SELECT n_name, sum(l_extendedprice * (1 - l_discount)) AS revenue
FROM region
JOIN nation ON n_regionkey = r_regionkey
JOIN supplier ON s_nationkey = n_nationkey
JOIN lineitem ON l_suppkey = s_suppkey
JOIN orders ON o_orderkey = l_orderkey
JOIN customer ON c_custkey = o_custkey AND c_nationkey = s_nationkey
WHERE r_name = :region
  AND o_orderdate >= cast(:date AS date)
  AND o_orderdate < cast(:date AS date) + interval '1 year'
GROUP BY n_name
ORDER BY revenue DESC;
