//! What the operating system says: who users are, and random numbers that nobody can foresee.

use std::ffi::CStr;

/// The name of the user who runs us.
pub fn own_name() -> Result<String, String> {
    // SAFETY: the call takes nothing and cannot fail.
    let number = unsafe { libc::geteuid() };
    name(number).map_err(|_| format!("could not look up effective user ID {number}: user does not exist"))
}

/// The name of the user with that number.
pub fn name(number: u32) -> Result<String, String> {
    // SAFETY: zeros are values of a struct of numbers and pointers; the call fills it.
    let mut entry: libc::passwd = unsafe { std::mem::zeroed() };
    let (mut texts, mut found) = ([0; 16 * 1024], std::ptr::null_mut());
    // SAFETY: the pointers are to live values, and the length is that of the buffer.
    let result = unsafe { libc::getpwuid_r(number, &raw mut entry, texts.as_mut_ptr(), texts.len(), &raw mut found) };
    if result != 0 || found.is_null() {
        return Err(format!("user {number} does not exist"));
    }
    // SAFETY: the entry was filled; its name lies in `texts`, which lives, and ends with a zero byte.
    Ok(unsafe { CStr::from_ptr(entry.pw_name) }.to_string_lossy().into_owned())
}

/// From the kernel.
pub fn random_number() -> u64 {
    let mut bytes = [0; 8];
    // SAFETY: the pointer and the length are those of a live buffer. So few bytes come whole, or the
    // kernel has no random numbers at all, and then zeros do.
    unsafe { libc::getrandom(bytes.as_mut_ptr().cast(), bytes.len(), 0) };
    u64::from_ne_bytes(bytes)
}
