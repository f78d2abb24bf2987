\set bid random(1, 1 * :scale)
SELECT aid, abalance FROM pgbench_accounts WHERE bid = :bid ORDER BY abalance DESC LIMIT 5;
