-- Promotion effect: the part of a month's revenue that came from promoted parts, in percent.
SELECT 100 * sum(CASE WHEN p_type LIKE 'PROMO%' THEN l_extendedprice * (1 - l_discount) ELSE 0 END)
           / sum(l_extendedprice * (1 - l_discount)) AS promo_revenue
FROM lineitem
JOIN part ON p_partkey = l_partkey
WHERE l_shipdate >= cast(:date AS date)
  AND l_shipdate < cast(:date AS date) + interval '1 month';
