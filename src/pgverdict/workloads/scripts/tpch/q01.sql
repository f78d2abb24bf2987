-- Pricing summary: what was shipped until some days before the end of 1998-12-01, by flag and status.
SELECT l_returnflag, l_linestatus,
       sum(l_quantity) AS quantity,
       sum(l_extendedprice) AS base_price,
       sum(l_extendedprice * (1 - l_discount)) AS discounted_price,
       sum(l_extendedprice * (1 - l_discount) * (1 + l_tax)) AS charge,
       avg(l_quantity) AS quantity_mean,
       avg(l_extendedprice) AS price_mean,
       avg(l_discount) AS discount_mean,
       count(*) AS lines
FROM lineitem
WHERE l_shipdate <= date '1998-12-01' - :delta * interval '1 day'
GROUP BY l_returnflag, l_linestatus
ORDER BY l_returnflag, l_linestatus;
