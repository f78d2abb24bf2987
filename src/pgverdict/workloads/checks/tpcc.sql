-- The consistency conditions of clause 3.3.2 of the TPC-C standard, each as a question that no row may answer.
-- Conditions 2 and 3 do not hold for districts without new orders, of which the standard makes an exception.

-- check 1: what a warehouse took is what its districts took
SELECT w_id, w_ytd, d_ytd FROM warehouse
FULL JOIN (SELECT d_w_id AS w_id, sum(d_ytd) AS d_ytd FROM district GROUP BY d_w_id) AS d USING (w_id)
WHERE w_ytd IS DISTINCT FROM d_ytd;

-- check 2: a district's next order comes after its last one, which is its last new order
SELECT d_w_id, d_id, d_next_o_id, o_id, no_o_id FROM district
LEFT JOIN (SELECT o_w_id, o_d_id, max(o_id) AS o_id FROM oorder GROUP BY o_w_id, o_d_id) AS o
    ON (o_w_id, o_d_id) = (d_w_id, d_id)
LEFT JOIN (SELECT no_w_id, no_d_id, max(no_o_id) AS no_o_id FROM new_order GROUP BY no_w_id, no_d_id) AS n
    ON (no_w_id, no_d_id) = (d_w_id, d_id)
WHERE d_next_o_id - 1 IS DISTINCT FROM o_id OR o_id <> no_o_id;

-- check 3: the new orders of a district have no gaps
SELECT no_w_id, no_d_id, max(no_o_id), min(no_o_id), count(*) FROM new_order
GROUP BY no_w_id, no_d_id HAVING max(no_o_id) - min(no_o_id) + 1 <> count(*);

-- check 4: the orders of a district have as many lines as they say
SELECT w_id, d_id, lines, found
FROM (SELECT o_w_id AS w_id, o_d_id AS d_id, sum(o_ol_cnt) AS lines FROM oorder GROUP BY o_w_id, o_d_id) AS o
FULL JOIN (SELECT ol_w_id AS w_id, ol_d_id AS d_id, count(*) AS found FROM order_line GROUP BY ol_w_id, ol_d_id) AS l
    USING (w_id, d_id)
WHERE lines IS DISTINCT FROM found;

-- check 5: an order has no carrier if and only if it is a new order
SELECT w_id, d_id, order_id, carriers, new_orders
FROM (SELECT o_w_id AS w_id, o_d_id AS d_id, o_id AS order_id, count(o_carrier_id) AS carriers
      FROM oorder GROUP BY o_w_id, o_d_id, o_id) AS o
FULL JOIN (SELECT no_w_id AS w_id, no_d_id AS d_id, no_o_id AS order_id, 1 AS new_orders FROM new_order) AS n
    USING (w_id, d_id, order_id)
WHERE carriers IS NULL OR carriers + COALESCE(new_orders, 0) <> 1;

-- check 6: every order has as many lines as it says
SELECT w_id, d_id, order_id, o_ol_cnt, found
FROM (SELECT o_w_id AS w_id, o_d_id AS d_id, o_id AS order_id, o_ol_cnt FROM oorder) AS o
FULL JOIN (SELECT ol_w_id AS w_id, ol_d_id AS d_id, ol_o_id AS order_id, count(*) AS found
           FROM order_line GROUP BY ol_w_id, ol_d_id, ol_o_id) AS l
    USING (w_id, d_id, order_id)
WHERE o_ol_cnt IS DISTINCT FROM found;

-- check 7: a line is delivered if and only if its order has a carrier
SELECT ol_w_id, ol_d_id, ol_o_id, ol_number, ol_delivery_d, o_carrier_id FROM order_line
LEFT JOIN oorder ON (o_w_id, o_d_id, o_id) = (ol_w_id, ol_d_id, ol_o_id)
WHERE (ol_delivery_d IS NULL) <> (o_carrier_id IS NULL);

-- check 8: what a warehouse took is in the history
SELECT w_id, w_ytd, amount FROM warehouse
FULL JOIN (SELECT h_w_id AS w_id, sum(h_amount) AS amount FROM history GROUP BY h_w_id) AS h USING (w_id)
WHERE w_ytd IS DISTINCT FROM amount;

-- check 9: what a district took is in the history
SELECT w_id, d_id, d_ytd, amount FROM (SELECT d_w_id AS w_id, d_id, d_ytd FROM district) AS d
FULL JOIN (SELECT h_w_id AS w_id, h_d_id AS d_id, sum(h_amount) AS amount FROM history GROUP BY h_w_id, h_d_id) AS h
    USING (w_id, d_id)
WHERE d_ytd IS DISTINCT FROM amount;

-- check 10: a customer owes what was delivered and is not paid
SELECT c_w_id, c_d_id, c_id, c_balance, delivered, paid FROM customer
LEFT JOIN (SELECT o_w_id, o_d_id, o_c_id, sum(ol_amount) AS delivered FROM oorder
           JOIN order_line ON (ol_w_id, ol_d_id, ol_o_id) = (o_w_id, o_d_id, o_id)
           WHERE ol_delivery_d IS NOT NULL GROUP BY o_w_id, o_d_id, o_c_id) AS o
    ON (o_w_id, o_d_id, o_c_id) = (c_w_id, c_d_id, c_id)
LEFT JOIN (SELECT h_c_w_id, h_c_d_id, h_c_id, sum(h_amount) AS paid FROM history
           GROUP BY h_c_w_id, h_c_d_id, h_c_id) AS h
    ON (h_c_w_id, h_c_d_id, h_c_id) = (c_w_id, c_d_id, c_id)
WHERE c_balance <> COALESCE(delivered, 0) - COALESCE(paid, 0);

-- check 11: a district has 2100 orders, and those that were delivered since, that are no new orders
SELECT w_id, d_id, orders, new_orders, delivered
FROM (SELECT c_w_id AS w_id, c_d_id AS d_id, sum(c_delivery_cnt) AS delivered FROM customer GROUP BY c_w_id, c_d_id) AS c
LEFT JOIN (SELECT o_w_id AS w_id, o_d_id AS d_id, count(*) AS orders FROM oorder GROUP BY o_w_id, o_d_id) AS o
    USING (w_id, d_id)
LEFT JOIN (SELECT no_w_id AS w_id, no_d_id AS d_id, count(*) AS new_orders FROM new_order
           GROUP BY no_w_id, no_d_id) AS n USING (w_id, d_id)
WHERE COALESCE(orders, 0) - COALESCE(new_orders, 0) <> 2100 + delivered;

-- check 12: what a customer owes and has paid is what was delivered
SELECT c_w_id, c_d_id, c_id, c_balance, c_ytd_payment, delivered FROM customer
LEFT JOIN (SELECT o_w_id, o_d_id, o_c_id, sum(ol_amount) AS delivered FROM oorder
           JOIN order_line ON (ol_w_id, ol_d_id, ol_o_id) = (o_w_id, o_d_id, o_id)
           WHERE ol_delivery_d IS NOT NULL GROUP BY o_w_id, o_d_id, o_c_id) AS o
    ON (o_w_id, o_d_id, o_c_id) = (c_w_id, c_d_id, c_id)
WHERE c_balance + c_ytd_payment <> COALESCE(delivered, 0);
