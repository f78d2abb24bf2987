-- Volume shipping: revenue between two nations, both ways, by year.
SELECT supp_nation, cust_nation, l_year, sum(volume) AS revenue
FROM (
    SELECT seller.n_name AS supp_nation, buyer.n_name AS cust_nation,
           extract(year FROM l_shipdate) AS l_year,
           l_extendedprice * (1 - l_discount) AS volume
    FROM lineitem
    JOIN orders ON o_orderkey = l_orderkey
    JOIN customer ON c_custkey = o_custkey
    JOIN supplier ON s_suppkey = l_suppkey
    JOIN nation AS seller ON seller.n_nationkey = s_nationkey
    JOIN nation AS buyer ON buyer.n_nationkey = c_nationkey
    WHERE (seller.n_name = :nation1 AND buyer.n_name = :nation2
           OR seller.n_name = :nation2 AND buyer.n_name = :nation1)
      AND l_shipdate BETWEEN date '1995-01-01' AND date '1996-12-31'
) AS shipping
GROUP BY supp_nation, cust_nation, l_year
ORDER BY supp_nation, cust_nation, l_year;
