-- Forecast: what a year's small lines with about a given discount would have brought without it.
SELECT sum(l_extendedprice * l_discount) AS revenue
FROM lineitem
WHERE l_shipdate >= cast(:date AS date)
  AND l_shipdate < cast(:date AS date) + interval '1 year'
  AND l_discount BETWEEN :discount - 0.01 AND :discount + 0.01
  AND l_quantity < :quantity;
