-- The rows of the refresh functions, in sets: new orders with their lines, and the key of the order that is to go for each.
CREATE TABLE refresh_orders (
    rf_set int NOT NULL,
    rf_old_orderkey bigint NOT NULL,
    LIKE orders
);
CREATE TABLE refresh_lineitem (
    rf_set int NOT NULL,
    LIKE lineitem
);
