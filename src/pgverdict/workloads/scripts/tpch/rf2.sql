-- RF2: as many old orders go, with their lines.
BEGIN;
DELETE FROM lineitem WHERE l_orderkey IN (SELECT rf_old_orderkey FROM refresh_orders WHERE rf_set = :refresh_set);
DELETE FROM orders WHERE o_orderkey IN (SELECT rf_old_orderkey FROM refresh_orders WHERE rf_set = :refresh_set);
COMMIT;
