-- What an application would look up by; no update of the workloads touches an indexed column of accounts.
CREATE INDEX pgbench_accounts_bid ON pgbench_accounts (bid);
CREATE INDEX pgbench_history_tid ON pgbench_history (tid);
CREATE INDEX pgbench_history_bid_aid ON pgbench_history (bid, aid);
CREATE INDEX pgbench_history_mtime ON pgbench_history (mtime);
