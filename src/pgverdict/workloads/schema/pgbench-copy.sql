-- As the study of 11 against 12 has it: the copy has no primary key, and a unique index.
CREATE UNIQUE INDEX pgbench_accounts_copy_aid ON pgbench_accounts_copy (aid);
