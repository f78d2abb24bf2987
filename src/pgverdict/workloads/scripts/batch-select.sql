\set aid random(1, 100000 * :scale)
\set last :aid + 10000
SELECT abalance FROM pgbench_accounts WHERE aid BETWEEN :aid AND :last;
