//! Scripts are bytes, and nearly always UTF-8. What of one is not is read as characters that stand for single bytes, so that
//! all but the ends of this folder can work on text.
//!
//! These are the last 128 there are, of a plane for private use. Where a script has one of them itself, each of its bytes gets
//! its own: nothing is lost, and nothing mistaken.

use std::borrow::Cow;

/// Less the byte that is stood for, which is above 127.
const STAND_INS: u32 = 0x10_FF00;

/// The byte that a character stands for.
fn stood_for(character: char) -> Option<u8> {
    u32::from(character).checked_sub(STAND_INS).and_then(|byte| u8::try_from(byte).ok()).filter(|byte| *byte >= 0x80)
}

fn stand_in(byte: u8) -> char {
    char::from_u32(STAND_INS + u32::from(byte)).unwrap_or(char::REPLACEMENT_CHARACTER)
}

/// A script, or the value of a variable, as it is worked on.
pub fn text(bytes: &[u8]) -> String {
    let mut text = String::with_capacity(bytes.len());
    for chunk in bytes.utf8_chunks() {
        for character in chunk.valid().chars() {
            match stood_for(character) {
                None => text.push(character),
                Some(_) => text.extend(character.encode_utf8(&mut [0; 4]).bytes().map(stand_in)),
            }
        }
        text.extend(chunk.invalid().iter().copied().map(stand_in));
    }
    text
}

/// What it was read from.
pub fn bytes(text: &str) -> Cow<'_, [u8]> {
    if !text.contains(|character| stood_for(character).is_some()) {
        return Cow::Borrowed(text.as_bytes());
    }
    let mut bytes = Vec::with_capacity(text.len());
    for character in text.chars() {
        match stood_for(character) {
            None => bytes.extend_from_slice(character.encode_utf8(&mut [0; 4]).as_bytes()),
            Some(byte) => bytes.push(byte),
        }
    }
    Cow::Owned(bytes)
}

/// For people: what is not UTF-8 is shown as U+FFFD.
pub fn shown(text: &str) -> String {
    String::from_utf8_lossy(&bytes(text)).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn what_is_not_utf_8_is_kept_and_shown_as_such() {
        let latin_1 = b"SELECT 'gr\xfc\xdfe', '\xc3\xa4'";
        assert_eq!(bytes(&text(latin_1)).as_ref(), latin_1);
        assert_eq!(shown(&text(latin_1)), "SELECT 'gr\u{fffd}\u{fffd}e', 'ä'");
        assert_eq!(text("größe".as_bytes()), "größe");
    }

    proptest! {
        #[test]
        fn no_byte_is_lost(
            parts in prop::collection::vec(
                prop_oneof![any::<Vec<u8>>(), any::<String>().prop_map(String::into_bytes), Just("\u{10fffc}".into())],
                0..5usize,
            )
        ) {
            let all = parts.concat();
            let read = text(&all);
            prop_assert_eq!(bytes(&read).into_owned(), all);
        }
    }
}
