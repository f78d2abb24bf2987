//! Asks for a password at the terminal.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Write};
use std::mem;
use std::os::fd::AsRawFd;

/// What the user types, unseen. Empty where nobody can be asked.
pub fn password(prompt: &str) -> String {
    let terminal = File::options().read(true).write(true).open("/dev/tty");
    let typed = match terminal {
        Ok(terminal) => ask(&terminal, &terminal, prompt),
        Err(_) => {
            eprint!("{prompt}");
            let mut line = String::new();
            io::stdin().lock().read_line(&mut line).map(|_| line)
        }
    };
    typed.unwrap_or_default().trim_end_matches(['\n', '\r']).to_owned()
}

fn ask(input: &File, mut output: &File, prompt: &str) -> io::Result<String> {
    let echo = set_echo(input, None, false)?;
    output.write_all(prompt.as_bytes())?;
    let mut line = String::new();
    let read = BufReader::new(input).read_line(&mut line);
    set_echo(input, Some(echo), true)?;
    output.write_all(b"\n")?;
    read.map(|_| line)
}

/// Gives back how the terminal was set, or sets it so again.
fn set_echo(terminal: &File, before: Option<libc::termios>, on: bool) -> io::Result<libc::termios> {
    // SAFETY: a termios is plain data, for which zeroes are valid, and the descriptor is open.
    unsafe {
        let mut settings: libc::termios = mem::zeroed();
        if libc::tcgetattr(terminal.as_raw_fd(), &mut settings) != 0 {
            return Err(io::Error::last_os_error());
        }
        let found = settings;
        let mut wanted = before.unwrap_or(settings);
        if !on {
            wanted.c_lflag &= !libc::ECHO;
        }
        if libc::tcsetattr(terminal.as_raw_fd(), libc::TCSAFLUSH, &wanted) != 0 {
            return Err(io::Error::last_os_error());
        }
        Ok(found)
    }
}
