-- Market share: a nation's part of what a region bought of a type of part in two years.
SELECT o_year, sum(CASE WHEN nation = :nation THEN volume ELSE 0 END) / sum(volume) AS mkt_share
FROM (
    SELECT extract(year FROM o_orderdate) AS o_year,
           l_extendedprice * (1 - l_discount) AS volume,
           seller.n_name AS nation
    FROM part
    JOIN lineitem ON l_partkey = p_partkey
    JOIN supplier ON s_suppkey = l_suppkey
    JOIN nation AS seller ON seller.n_nationkey = s_nationkey
    JOIN orders ON o_orderkey = l_orderkey
    JOIN customer ON c_custkey = o_custkey
    JOIN nation AS buyer ON buyer.n_nationkey = c_nationkey
    JOIN region ON r_regionkey = buyer.n_regionkey
    WHERE r_name = :region
      AND p_type = :type
      AND o_orderdate BETWEEN date '1995-01-01' AND date '1996-12-31'
) AS sold
GROUP BY o_year
ORDER BY o_year;
