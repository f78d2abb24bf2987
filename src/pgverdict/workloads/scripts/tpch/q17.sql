-- Small orders: what would be lost in a year without orders of less than a fifth of a part's usual quantity.
SELECT sum(l_extendedprice) / 7.0 AS avg_yearly
FROM lineitem
JOIN part ON p_partkey = l_partkey
WHERE p_brand = :brand
  AND p_container = :container
  AND l_quantity < (SELECT 0.2 * avg(usual.l_quantity) FROM lineitem AS usual WHERE usual.l_partkey = p_partkey);
