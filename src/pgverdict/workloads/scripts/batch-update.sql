\set aid random(1, 100000 * :scale)
\set last :aid + 10000
\set delta random(-5000, 5000)
UPDATE pgbench_accounts SET abalance = abalance + :delta WHERE aid BETWEEN :aid AND :last;
