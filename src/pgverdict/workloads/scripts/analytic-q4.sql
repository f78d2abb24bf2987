SELECT sum(a.abalance) FROM pgbench_accounts AS a JOIN pgbench_accounts_copy USING (aid) WHERE a.aid % 10 = 0;
