-- What holds of the sets of the refresh functions after loading and after whole streams.

-- check 1: of a set either the new orders are there or the old ones, and all of them
SELECT rf_set, count(*), count(young.o_orderkey), count(old.o_orderkey)
FROM refresh_orders AS r
LEFT JOIN orders AS young ON young.o_orderkey = r.o_orderkey
LEFT JOIN orders AS old ON old.o_orderkey = r.rf_old_orderkey
GROUP BY rf_set
HAVING NOT (count(young.o_orderkey) = count(*) AND count(old.o_orderkey) = 0)
    AND NOT (count(young.o_orderkey) = 0 AND count(old.o_orderkey) = count(*));

-- check 2: a set's lines are there if and only if its orders are
SELECT rf_set, count(*), count(there.l_orderkey), count(young.o_orderkey)
FROM refresh_lineitem AS r
LEFT JOIN lineitem AS there ON there.l_orderkey = r.l_orderkey AND there.l_linenumber = r.l_linenumber
LEFT JOIN orders AS young ON young.o_orderkey = r.l_orderkey
GROUP BY rf_set
HAVING count(there.l_orderkey) <> count(young.o_orderkey);

-- check 3: an old order has lines if and only if it is there itself
SELECT DISTINCT rf_set, rf_old_orderkey
FROM refresh_orders AS r
LEFT JOIN orders AS old ON old.o_orderkey = r.rf_old_orderkey
LEFT JOIN lineitem AS line ON line.l_orderkey = r.rf_old_orderkey
WHERE (old.o_orderkey IS NULL) <> (line.l_orderkey IS NULL);
