//! The statements of the five transactions, each as its own.

use super::super::Sql;
use crate::wire::parameter::Form;

/// How transactions begin; the first leaves the level to the server's settings.
pub const ISOLATIONS: [&str; 4] = [
    "BEGIN",
    "BEGIN ISOLATION LEVEL READ COMMITTED",
    "BEGIN ISOLATION LEVEL REPEATABLE READ",
    "BEGIN ISOLATION LEVEL SERIALIZABLE",
];
pub const ISOLATION_NAMES: [&str; 4] = ["server", "read-committed", "repeatable-read", "serializable"];

pub const BEGIN: usize = 0;
pub const COMMIT: usize = 1;
pub const ROLLBACK: usize = 2;
pub const CUSTOMER_DISCOUNT: usize = 3;
pub const WAREHOUSE_TAX: usize = 4;
pub const DISTRICT_NEXT_ORDER: usize = 5;
pub const TAKE_ORDER_NUMBER: usize = 6;
pub const INSERT_ORDER: usize = 7;
pub const INSERT_NEW_ORDER: usize = 8;
pub const ITEM: usize = 9;
pub const STOCK: usize = 10;
pub const UPDATE_STOCK: usize = 11;
pub const INSERT_LINE: usize = 12;
pub const PAY_WAREHOUSE: usize = 13;
pub const WAREHOUSE_ADDRESS: usize = 14;
pub const PAY_DISTRICT: usize = 15;
pub const DISTRICT_ADDRESS: usize = 16;
pub const CUSTOMER_BY_NUMBER: usize = 17;
pub const CUSTOMERS_BY_NAME: usize = 18;
pub const PAY_CUSTOMER: usize = 19;
pub const PAY_BAD_CUSTOMER: usize = 20;
pub const INSERT_HISTORY: usize = 21;
pub const LAST_ORDER: usize = 22;
pub const LINES: usize = 23;
pub const OLDEST_NEW_ORDER: usize = 24;
pub const DELETE_NEW_ORDER: usize = 25;
pub const BUYER: usize = 26;
pub const SET_CARRIER: usize = 27;
pub const SET_DELIVERED: usize = 28;
pub const SUM_OF_LINES: usize = 29;
pub const DELIVER_TO_CUSTOMER: usize = 30;
pub const NEXT_ORDER: usize = 31;
pub const LOW_STOCK: usize = 32;

const I: Form = Form::Int4;
const T: Form = Form::Text;

/// Columns of a customer, the same whether it is found by number or by name.
const CUSTOMER: &str = "SELECT c_id, c_credit, c_first, c_middle, c_last, c_street_1, c_street_2, c_city, c_state, c_zip, \
    c_phone, c_since, c_credit_lim, c_discount, c_balance FROM customer";

/// All of them, in the order of their numbers.
pub fn all(begin: &str) -> Vec<Sql> {
    let sql = |text: &str, parameters: &[Form]| Sql::new(text, parameters);
    vec![
        sql(begin, &[]),
        sql("COMMIT", &[]),
        sql("ROLLBACK", &[]),
        sql(
            "SELECT c_discount, c_last, c_credit FROM customer WHERE c_w_id = $1 AND c_d_id = $2 AND c_id = $3",
            &[I, I, I],
        ),
        sql("SELECT w_tax FROM warehouse WHERE w_id = $1", &[I]),
        sql("SELECT d_next_o_id, d_tax FROM district WHERE d_w_id = $1 AND d_id = $2 FOR UPDATE", &[I, I])
            .keeping_rows(),
        sql("UPDATE district SET d_next_o_id = d_next_o_id + 1 WHERE d_w_id = $1 AND d_id = $2", &[I, I]),
        sql(
            "INSERT INTO oorder (o_w_id, o_d_id, o_id, o_c_id, o_entry_d, o_ol_cnt, o_all_local) \
             VALUES ($1, $2, $3, $4, CURRENT_TIMESTAMP, $5, $6)",
            &[I, I, I, I, I, I],
        ),
        sql("INSERT INTO new_order (no_w_id, no_d_id, no_o_id) VALUES ($1, $2, $3)", &[I, I, I]),
        sql("SELECT i_price, i_name, i_data FROM item WHERE i_id = $1", &[I]).keeping_rows(),
        sql(
            "SELECT s_quantity, s_data, s_dist_01, s_dist_02, s_dist_03, s_dist_04, s_dist_05, s_dist_06, s_dist_07, \
             s_dist_08, s_dist_09, s_dist_10 FROM stock WHERE s_w_id = $1 AND s_i_id = $2 FOR UPDATE",
            &[I, I],
        )
        .keeping_rows(),
        sql(
            "UPDATE stock SET s_quantity = $1, s_ytd = s_ytd + $2, s_order_cnt = s_order_cnt + 1, \
             s_remote_cnt = s_remote_cnt + $3 WHERE s_w_id = $4 AND s_i_id = $5",
            &[I, I, I, I, I],
        ),
        sql(
            "INSERT INTO order_line (ol_w_id, ol_d_id, ol_o_id, ol_number, ol_i_id, ol_supply_w_id, ol_quantity, \
             ol_amount, ol_dist_info) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)",
            &[I, I, I, I, I, I, I, T, T],
        ),
        sql("UPDATE warehouse SET w_ytd = w_ytd + $1 WHERE w_id = $2", &[T, I]),
        sql("SELECT w_name, w_street_1, w_street_2, w_city, w_state, w_zip FROM warehouse WHERE w_id = $1", &[I])
            .keeping_rows(),
        sql("UPDATE district SET d_ytd = d_ytd + $1 WHERE d_w_id = $2 AND d_id = $3", &[T, I, I]),
        sql(
            "SELECT d_name, d_street_1, d_street_2, d_city, d_state, d_zip FROM district \
             WHERE d_w_id = $1 AND d_id = $2",
            &[I, I],
        )
        .keeping_rows(),
        sql(&format!("{CUSTOMER} WHERE c_w_id = $1 AND c_d_id = $2 AND c_id = $3"), &[I, I, I]).keeping_rows(),
        sql(&format!("{CUSTOMER} WHERE c_w_id = $1 AND c_d_id = $2 AND c_last = $3 ORDER BY c_first"), &[I, I, T])
            .keeping_rows(),
        sql(
            "UPDATE customer SET c_balance = c_balance - $1, c_ytd_payment = c_ytd_payment + $1, \
             c_payment_cnt = c_payment_cnt + 1 WHERE c_w_id = $2 AND c_d_id = $3 AND c_id = $4",
            &[T, I, I, I],
        ),
        sql(
            "UPDATE customer SET c_balance = c_balance - $1, c_ytd_payment = c_ytd_payment + $1, \
             c_payment_cnt = c_payment_cnt + 1, c_data = left($5::text || c_data, 500) \
             WHERE c_w_id = $2 AND c_d_id = $3 AND c_id = $4 RETURNING c_data",
            &[T, I, I, I, T],
        ),
        sql(
            "INSERT INTO history (h_c_id, h_c_d_id, h_c_w_id, h_d_id, h_w_id, h_date, h_amount, h_data) \
             VALUES ($1, $2, $3, $4, $5, CURRENT_TIMESTAMP, $6, $7)",
            &[I, I, I, I, I, T, T],
        ),
        sql(
            "SELECT o_id, o_carrier_id, o_entry_d FROM oorder WHERE o_w_id = $1 AND o_d_id = $2 AND o_c_id = $3 \
             ORDER BY o_id DESC LIMIT 1",
            &[I, I, I],
        )
        .keeping_rows(),
        sql(
            "SELECT ol_i_id, ol_supply_w_id, ol_quantity, ol_amount, ol_delivery_d FROM order_line \
             WHERE ol_w_id = $1 AND ol_d_id = $2 AND ol_o_id = $3",
            &[I, I, I],
        ),
        sql(
            "SELECT no_o_id FROM new_order WHERE no_w_id = $1 AND no_d_id = $2 ORDER BY no_o_id LIMIT 1 FOR UPDATE",
            &[I, I],
        )
        .keeping_rows(),
        sql("DELETE FROM new_order WHERE no_w_id = $1 AND no_d_id = $2 AND no_o_id = $3", &[I, I, I]),
        sql("SELECT o_c_id FROM oorder WHERE o_w_id = $1 AND o_d_id = $2 AND o_id = $3", &[I, I, I]).keeping_rows(),
        sql("UPDATE oorder SET o_carrier_id = $1 WHERE o_w_id = $2 AND o_d_id = $3 AND o_id = $4", &[I, I, I, I]),
        sql(
            "UPDATE order_line SET ol_delivery_d = CURRENT_TIMESTAMP \
             WHERE ol_w_id = $1 AND ol_d_id = $2 AND ol_o_id = $3",
            &[I, I, I],
        ),
        sql("SELECT sum(ol_amount) FROM order_line WHERE ol_w_id = $1 AND ol_d_id = $2 AND ol_o_id = $3", &[I, I, I])
            .keeping_rows(),
        sql(
            "UPDATE customer SET c_balance = c_balance + $1, c_delivery_cnt = c_delivery_cnt + 1 \
             WHERE c_w_id = $2 AND c_d_id = $3 AND c_id = $4",
            &[T, I, I, I],
        ),
        sql("SELECT d_next_o_id FROM district WHERE d_w_id = $1 AND d_id = $2", &[I, I]).keeping_rows(),
        sql(
            "SELECT count(DISTINCT s_i_id) FROM order_line, stock WHERE ol_w_id = $1 AND ol_d_id = $2 \
             AND ol_o_id < $3 AND ol_o_id >= $3 - 20 AND s_w_id = $1 AND s_i_id = ol_i_id AND s_quantity < $4",
            &[I, I, I, I],
        ),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_statement_stands_where_its_number_says() {
        let all = all("BEGIN");
        assert_eq!(all.len(), LOW_STOCK + 1);
        for (number, begins) in [
            (BEGIN, "BEGIN"),
            (ROLLBACK, "ROLLBACK"),
            (TAKE_ORDER_NUMBER, "UPDATE district SET d_next"),
            (ITEM, "SELECT i_price"),
            (UPDATE_STOCK, "UPDATE stock"),
            (PAY_DISTRICT, "UPDATE district SET d_ytd"),
            (CUSTOMERS_BY_NAME, "SELECT c_id"),
            (INSERT_HISTORY, "INSERT INTO history"),
            (OLDEST_NEW_ORDER, "SELECT no_o_id"),
            (SUM_OF_LINES, "SELECT sum"),
            (LOW_STOCK, "SELECT count"),
        ] {
            assert!(all[number].text.starts_with(begins), "{number}: {}", all[number].text);
        }
    }

    #[test]
    fn parameters_have_as_many_forms_as_the_text_has_numbers() {
        for sql in all("BEGIN") {
            let count = sql.parameters.len();
            assert!(count == 0 || sql.text.contains(&format!("${count}")), "{}", sql.text);
            assert!(!sql.text.contains(&format!("${}", count + 1)), "{}", sql.text);
        }
    }
}
