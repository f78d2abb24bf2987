SELECT b.bid, top.aid, top.abalance
FROM pgbench_branches AS b
CROSS JOIN LATERAL (
    SELECT a.aid, a.abalance FROM pgbench_accounts AS a WHERE a.bid = b.bid ORDER BY a.abalance DESC LIMIT 5
) AS top;
