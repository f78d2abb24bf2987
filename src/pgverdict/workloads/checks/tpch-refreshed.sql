-- After a round, of the sets that were its streams'.

-- check refreshed: the new orders of the sets of all streams are there, and their old ones are not
SELECT rf_set, count(*) FROM refresh_orders AS r
WHERE rf_set <= :sets
    AND (
        NOT EXISTS (SELECT 1 FROM orders AS young WHERE young.o_orderkey = r.o_orderkey)
        OR EXISTS (SELECT 1 FROM orders AS old WHERE old.o_orderkey = r.rf_old_orderkey)
    )
GROUP BY rf_set;
