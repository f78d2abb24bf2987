-- Minimum cost supplier: who in a region sells parts of a size and material at the lowest cost of that region.
SELECT s_acctbal, s_name, n_name, p_partkey, p_mfgr, s_address, s_phone, s_comment
FROM part
JOIN partsupp ON ps_partkey = p_partkey
JOIN supplier ON s_suppkey = ps_suppkey
JOIN nation ON n_nationkey = s_nationkey
JOIN region ON r_regionkey = n_regionkey
WHERE p_size = :size
  AND p_type LIKE '%' || :type
  AND r_name = :region
  AND ps_supplycost = (
      SELECT min(other.ps_supplycost)
      FROM partsupp AS other
      JOIN supplier AS seller ON seller.s_suppkey = other.ps_suppkey
      JOIN nation AS home ON home.n_nationkey = seller.s_nationkey
      JOIN region AS around ON around.r_regionkey = home.n_regionkey
      WHERE other.ps_partkey = p_partkey AND around.r_name = :region
  )
ORDER BY s_acctbal DESC, n_name, s_name, p_partkey
LIMIT 100;
