-- The top accounts of a branch from an index; every update of a balance has to enter it, so that none is HOT.
CREATE INDEX pgbench_accounts_bid_abalance ON pgbench_accounts (bid, abalance);
