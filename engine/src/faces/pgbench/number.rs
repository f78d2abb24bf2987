//! Numbers as C reads them.

/// The number that a text begins with, 0 if it begins with none: C's `atof`.
pub fn leading_double(text: &str) -> f64 {
    let text = text.trim_ascii_start();
    let longest = (1..=text.len()).rev().filter(|&end| text.is_char_boundary(end));
    longest.filter_map(|end| text[..end].parse().ok()).next().unwrap_or(0.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_beginning_counts() {
        for (text, value) in [("1.5ms", 1.5), (" -2", -2.0), ("x", 0.0), ("", 0.0), ("1e3e", 1000.0), (".5", 0.5)] {
            assert_eq!(leading_double(text), value, "{text}");
        }
    }
}
