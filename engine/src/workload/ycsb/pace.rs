//! When the operations of a client are due, where there is a target: one after the other in even steps, whether or not
//! those before are done, as YCSB's threads with `-target`.

/// One client's part of a target.
#[derive(Debug, Clone)]
pub struct Pace {
    /// Between two operations of the client.
    step_ns: f64,
    /// Of a step: clients are spread evenly over it.
    offset: f64,
    /// When the first slice of work was begun; none before it is.
    begun_ns: Option<u64>,
    begun: u64,
}

impl Pace {
    /// `target`: operations per second of all clients; `None` for 0, which is as many as they can.
    pub fn of(target: u64, client: usize, clients: usize) -> Option<Self> {
        (target > 0).then(|| Self {
            step_ns: 1e9 * clients as f64 / target as f64,
            offset: client as f64 / clients as f64,
            begun_ns: None,
            begun: 0,
        })
    }

    /// Before a slice: what the one before did not come to is not made up for.
    pub fn restart(&mut self) {
        (self.begun_ns, self.begun) = (None, 0);
    }

    /// When the next operation is due. The first question of a slice says when that begins.
    pub fn due_ns(&mut self, now_ns: u64) -> u64 {
        let begun_ns = *self.begun_ns.get_or_insert(now_ns);
        begun_ns + ((self.offset + self.begun as f64) * self.step_ns) as u64
    }

    /// The next operation is begun; when it was due.
    pub fn begin(&mut self, now_ns: u64) -> u64 {
        let due_ns = self.due_ns(now_ns);
        self.begun += 1;
        due_ns
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn operations_are_due_in_even_steps_and_clients_in_turn() {
        let mut clients: Vec<Pace> = (0..4).map(|client| Pace::of(1000, client, 4).unwrap()).collect();
        let mut due: Vec<u64> = Vec::new();
        for _ in 0..3 {
            due.extend(clients.iter_mut().map(|pace| pace.begin(5_000)));
        }
        let expect: Vec<u64> = (0..12).map(|number| 5_000 + number * 1_000_000).collect();
        assert_eq!(due, expect);
    }

    #[test]
    fn what_is_late_is_due_when_it_was_and_a_slice_begins_anew() {
        let mut pace = Pace::of(1000, 0, 1).unwrap();
        assert_eq!((pace.begin(0), pace.begin(7_000_000), pace.due_ns(7_000_000)), (0, 1_000_000, 2_000_000));
        pace.restart();
        assert_eq!((pace.begin(9_000_000), pace.begin(9_000_000)), (9_000_000, 10_000_000));
    }

    #[test]
    fn without_a_target_there_is_no_pace() {
        assert!(Pace::of(0, 0, 1).is_none());
    }
}
