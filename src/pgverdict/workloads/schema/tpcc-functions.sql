-- The five transactions as functions; they are there whether or not they are called.
-- Who calls them begins and ends the transaction.

-- What the order costs its customer; NULL where an item is not there, and then it is to be rolled back.
CREATE FUNCTION tpcc_new_order(
    warehouse_id int, district_id int, customer_id int, items int[], supplies int[], quantities int[]
) RETURNS numeric LANGUAGE plpgsql AS $$
DECLARE
    discount numeric;
    warehouse_tax numeric;
    district_tax numeric;
    order_id int;
    lines int := array_length(items, 1);
    all_local int := 1;
    price numeric;
    found_quantity int;
    infos char(24)[];
    total numeric := 0;
BEGIN
    SELECT c_discount INTO STRICT discount
        FROM customer WHERE c_w_id = warehouse_id AND c_d_id = district_id AND c_id = customer_id;
    SELECT w_tax INTO STRICT warehouse_tax FROM warehouse WHERE w_id = warehouse_id;
    UPDATE district SET d_next_o_id = d_next_o_id + 1 WHERE d_w_id = warehouse_id AND d_id = district_id
        RETURNING d_next_o_id - 1, d_tax INTO STRICT order_id, district_tax;
    FOR n IN 1 .. lines LOOP
        IF supplies[n] <> warehouse_id THEN
            all_local := 0;
        END IF;
    END LOOP;
    INSERT INTO oorder (o_w_id, o_d_id, o_id, o_c_id, o_entry_d, o_ol_cnt, o_all_local)
        VALUES (warehouse_id, district_id, order_id, customer_id, CURRENT_TIMESTAMP, lines, all_local);
    INSERT INTO new_order (no_w_id, no_d_id, no_o_id) VALUES (warehouse_id, district_id, order_id);
    FOR n IN 1 .. lines LOOP
        SELECT i_price INTO price FROM item WHERE i_id = items[n];
        IF NOT FOUND THEN
            RETURN NULL;
        END IF;
        SELECT s_quantity, ARRAY[s_dist_01, s_dist_02, s_dist_03, s_dist_04, s_dist_05, s_dist_06, s_dist_07,
                                 s_dist_08, s_dist_09, s_dist_10]
            INTO STRICT found_quantity, infos
            FROM stock WHERE s_w_id = supplies[n] AND s_i_id = items[n] FOR UPDATE;
        UPDATE stock
            SET s_quantity = found_quantity - quantities[n]
                    + CASE WHEN found_quantity - quantities[n] >= 10 THEN 0 ELSE 91 END,
                s_ytd = s_ytd + quantities[n],
                s_order_cnt = s_order_cnt + 1,
                s_remote_cnt = s_remote_cnt + CASE WHEN supplies[n] = warehouse_id THEN 0 ELSE 1 END
            WHERE s_w_id = supplies[n] AND s_i_id = items[n];
        INSERT INTO order_line (ol_w_id, ol_d_id, ol_o_id, ol_number, ol_i_id, ol_supply_w_id, ol_quantity,
                                ol_amount, ol_dist_info)
            VALUES (warehouse_id, district_id, order_id, n, items[n], supplies[n], quantities[n],
                    price * quantities[n], infos[district_id]);
        total := total + price * quantities[n];
    END LOOP;
    RETURN total * (1 - discount) * (1 + warehouse_tax + district_tax);
END $$;

-- The customer by number or, where that is NULL, by last name: of n the one at n / 2 rounded up.
CREATE FUNCTION tpcc_customer(warehouse_id int, district_id int, customer_id int, last_name text)
RETURNS int LANGUAGE plpgsql STABLE AS $$
DECLARE
    ids int[];
BEGIN
    IF customer_id IS NOT NULL THEN
        RETURN customer_id;
    END IF;
    SELECT array_agg(c_id ORDER BY c_first) INTO STRICT ids
        FROM customer WHERE c_w_id = warehouse_id AND c_d_id = district_id AND c_last = last_name;
    IF ids IS NULL THEN
        RAISE EXCEPTION 'no customer % in district % of warehouse %', last_name, district_id, warehouse_id;
    END IF;
    RETURN ids[(array_length(ids, 1) + 1) / 2];
END $$;

-- The customer's new balance.
CREATE FUNCTION tpcc_payment(
    warehouse_id int, district_id int, home_warehouse_id int, home_district_id int, customer_id int, last_name text,
    amount numeric
) RETURNS numeric LANGUAGE plpgsql AS $$
DECLARE
    buyer int;
    warehouse_name text;
    district_name text;
    credit text;
    balance numeric;
BEGIN
    UPDATE warehouse SET w_ytd = w_ytd + amount WHERE w_id = warehouse_id RETURNING w_name INTO STRICT warehouse_name;
    UPDATE district SET d_ytd = d_ytd + amount WHERE d_w_id = warehouse_id AND d_id = district_id
        RETURNING d_name INTO STRICT district_name;
    buyer := tpcc_customer(home_warehouse_id, home_district_id, customer_id, last_name);
    UPDATE customer
        SET c_balance = c_balance - amount, c_ytd_payment = c_ytd_payment + amount, c_payment_cnt = c_payment_cnt + 1
        WHERE c_w_id = home_warehouse_id AND c_d_id = home_district_id AND c_id = buyer
        RETURNING c_credit, c_balance INTO STRICT credit, balance;
    IF credit = 'BC' THEN
        UPDATE customer
            SET c_data = left(concat_ws(' ', buyer, home_district_id, home_warehouse_id, district_id, warehouse_id,
                                        amount, '| ') || c_data, 500)
            WHERE c_w_id = home_warehouse_id AND c_d_id = home_district_id AND c_id = buyer;
    END IF;
    INSERT INTO history (h_c_id, h_c_d_id, h_c_w_id, h_d_id, h_w_id, h_date, h_amount, h_data)
        VALUES (buyer, home_district_id, home_warehouse_id, district_id, warehouse_id, CURRENT_TIMESTAMP, amount,
                warehouse_name || '    ' || district_name);
    RETURN balance;
END $$;

-- How many lines the customer's last order has.
CREATE FUNCTION tpcc_order_status(warehouse_id int, district_id int, customer_id int, last_name text)
RETURNS int LANGUAGE plpgsql AS $$
DECLARE
    buyer int := tpcc_customer(warehouse_id, district_id, customer_id, last_name);
    balance numeric;
    order_id int;
    carrier int;
    entered timestamp;
    line record;
    lines int := 0;
BEGIN
    SELECT c_balance INTO STRICT balance
        FROM customer WHERE c_w_id = warehouse_id AND c_d_id = district_id AND c_id = buyer;
    SELECT o_id, o_carrier_id, o_entry_d INTO STRICT order_id, carrier, entered
        FROM oorder WHERE o_w_id = warehouse_id AND o_d_id = district_id AND o_c_id = buyer ORDER BY o_id DESC LIMIT 1;
    FOR line IN SELECT ol_i_id, ol_supply_w_id, ol_quantity, ol_amount, ol_delivery_d
        FROM order_line WHERE ol_w_id = warehouse_id AND ol_d_id = district_id AND ol_o_id = order_id
    LOOP
        lines := lines + 1;
    END LOOP;
    RETURN lines;
END $$;

-- How many orders were delivered: districts without a new order are skipped.
CREATE FUNCTION tpcc_delivery(warehouse_id int, carrier_id int) RETURNS int LANGUAGE plpgsql AS $$
DECLARE
    order_id int;
    buyer int;
    amount numeric;
    delivered int := 0;
BEGIN
    FOR district_id IN 1 .. 10 LOOP
        SELECT no_o_id INTO order_id FROM new_order WHERE no_w_id = warehouse_id AND no_d_id = district_id
            ORDER BY no_o_id LIMIT 1 FOR UPDATE;
        CONTINUE WHEN NOT FOUND;
        DELETE FROM new_order WHERE no_w_id = warehouse_id AND no_d_id = district_id AND no_o_id = order_id;
        UPDATE oorder SET o_carrier_id = carrier_id
            WHERE o_w_id = warehouse_id AND o_d_id = district_id AND o_id = order_id RETURNING o_c_id INTO STRICT buyer;
        UPDATE order_line SET ol_delivery_d = CURRENT_TIMESTAMP
            WHERE ol_w_id = warehouse_id AND ol_d_id = district_id AND ol_o_id = order_id;
        SELECT sum(ol_amount) INTO STRICT amount
            FROM order_line WHERE ol_w_id = warehouse_id AND ol_d_id = district_id AND ol_o_id = order_id;
        UPDATE customer SET c_balance = c_balance + amount, c_delivery_cnt = c_delivery_cnt + 1
            WHERE c_w_id = warehouse_id AND c_d_id = district_id AND c_id = buyer;
        delivered := delivered + 1;
    END LOOP;
    RETURN delivered;
END $$;

-- How many items of the district's last twenty orders have less than the threshold in stock.
CREATE FUNCTION tpcc_stock_level(warehouse_id int, district_id int, threshold int) RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
    next_id int;
    low bigint;
BEGIN
    SELECT d_next_o_id INTO STRICT next_id FROM district WHERE d_w_id = warehouse_id AND d_id = district_id;
    SELECT count(DISTINCT s_i_id) INTO STRICT low FROM order_line, stock
        WHERE ol_w_id = warehouse_id AND ol_d_id = district_id AND ol_o_id < next_id AND ol_o_id >= next_id - 20
            AND s_w_id = warehouse_id AND s_i_id = ol_i_id AND s_quantity < threshold;
    RETURN low;
END $$;
