-- RF1: new orders with their lines.
BEGIN;
INSERT INTO orders
SELECT
    o_orderkey, o_custkey, o_orderstatus, o_totalprice, o_orderdate, o_orderpriority, o_clerk, o_shippriority,
    o_comment
FROM refresh_orders
WHERE rf_set = :refresh_set;
INSERT INTO lineitem
SELECT
    l_orderkey, l_partkey, l_suppkey, l_linenumber, l_quantity, l_extendedprice, l_discount, l_tax, l_returnflag,
    l_linestatus, l_shipdate, l_commitdate, l_receiptdate, l_shipinstruct, l_shipmode, l_comment
FROM refresh_lineitem
WHERE rf_set = :refresh_set;
COMMIT;
