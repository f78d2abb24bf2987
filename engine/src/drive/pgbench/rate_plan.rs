//! A rate that changes as time goes by: phases of steady or evenly growing rates, one after the other. Pure.
//!
//! Arrivals are those of a Poisson process with that rate: the time to the next one is as long as it takes for as
//! many arrivals to be expected as an exponential draw says.

/// `from_hz` at its beginning, `to_hz` at its end.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Phase {
    pub seconds: f64,
    pub from_hz: f64,
    pub to_hz: f64,
}

#[derive(Debug, Clone, PartialEq)]
pub struct RatePlan(pub Vec<Phase>);

impl RatePlan {
    /// `10@1000,20@1000-5000`: ten seconds of 1 000 per second, then twenty in which it grows to 5 000.
    pub fn read(text: &str) -> Option<Self> {
        let number = |text: &str| text.parse::<f64>().ok().filter(|value| value.is_finite() && *value >= 0.0);
        let phase = |part: &str| {
            let (seconds, rates) = part.split_once('@')?;
            let (from, to) = rates.split_once('-').unwrap_or((rates, rates));
            let seconds = number(seconds).filter(|seconds| *seconds > 0.0)?;
            Some(Phase { seconds, from_hz: number(from)?, to_hz: number(to)? })
        };
        let phases: Option<Vec<Phase>> = text.split(',').map(phase).collect();
        let expects = |phase: &Phase| phase.from_hz + phase.to_hz > 0.0;
        phases.filter(|phases| phases.iter().any(expects)).map(Self)
    }

    pub fn seconds(&self) -> f64 {
        self.0.iter().map(|phase| phase.seconds).sum()
    }

    /// When each phase ends.
    pub fn ends_us(&self) -> Vec<i64> {
        let mut end_s = 0.0;
        let mut next = |phase: &Phase| {
            end_s += phase.seconds;
            (end_s * 1e6) as i64
        };
        self.0.iter().map(&mut next).collect()
    }

    /// An equal share of it.
    pub fn shared_by(&self, threads: usize) -> Self {
        let share = |phase: &Phase| Phase {
            seconds: phase.seconds,
            from_hz: phase.from_hz / threads as f64,
            to_hz: phase.to_hz / threads as f64,
        };
        Self(self.0.iter().map(share).collect())
    }

    /// When so many arrivals are expected to have come since `at_s`; infinite if they never are.
    pub fn next_s(&self, at_s: f64, mut expected: f64) -> f64 {
        let (mut at, mut begin) = (at_s.max(0.0), 0.0);
        for phase in &self.0 {
            let end = begin + phase.seconds;
            if at < end {
                let slope = (phase.to_hz - phase.from_hz) / phase.seconds;
                let rate = phase.from_hz + slope * (at - begin);
                let here = (end - at) * (rate + phase.to_hz) / 2.0;
                if expected < here {
                    // The root of rate x + slope x^2 / 2 = expected, written so that no slope is divided by.
                    return at + 2.0 * expected / (rate + (rate * rate + 2.0 * slope * expected).max(0.0).sqrt());
                }
                expected -= here;
                at = end;
            }
            begin = end;
        }
        f64::INFINITY
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_plan_is_read_as_it_is_written() {
        let plan = RatePlan::read("10@1000,20@1000-5000,0.5@0").unwrap();
        assert_eq!(plan.0[1], Phase { seconds: 20.0, from_hz: 1000.0, to_hz: 5000.0 });
        assert_eq!((plan.seconds(), plan.0.len()), (30.5, 3));
        assert_eq!(plan.ends_us(), [10_000_000, 30_000_000, 30_500_000]);
        for wrong in ["", "10", "@5", "10@", "0@5", "10@x", "10@-5", "10@5,", "10@0", "inf@5", "10@nan"] {
            assert_eq!(RatePlan::read(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn a_steady_rate_gives_even_times() {
        let plan = RatePlan::read("10@100").unwrap().shared_by(2);
        assert_eq!(plan.next_s(3.0, 5.0), 3.1);
        assert_eq!(plan.next_s(9.99, 1.0), f64::INFINITY);
    }

    #[test]
    fn as_many_are_expected_as_the_rates_add_up_to() {
        let plan = RatePlan::read("2@0-100,1@100,2@0,2@100-0").unwrap();
        let mut at = 0.0;
        let mut times = Vec::new();
        loop {
            at = plan.next_s(at, 0.5);
            if at.is_infinite() {
                break;
            }
            times.push(at);
        }
        let within = |from: f64, to: f64| times.iter().filter(|time| (from..to).contains(*time)).count();
        // 100, 100, 0 and 100 arrivals, two times for each; what falls on an edge may be on either side.
        assert!(within(0.0, 2.0).abs_diff(200) <= 1);
        assert!(within(2.0, 3.0).abs_diff(200) <= 1);
        assert_eq!(within(3.0 + 1e-9, 5.0), 0);
        assert!(within(5.0, 7.0).abs_diff(200) <= 2);
        assert!(times.is_sorted());
        // Half of a ramp's arrivals come in the last 0.29 of it.
        assert!(within(0.0, 2.0 * 0.5_f64.sqrt()).abs_diff(100) <= 1);
    }
}
