//! This process and its threads: what they may use, and when they die.

use std::fs::File;
use std::io;
use std::mem;
use std::os::unix::fs::FileExt;

/// Asks the kernel to kill us when the thread that started us ends, so that no load outlives a
/// parent that was killed. The end of standard input says the same, but only while we read it.
pub fn die_with_parent() -> io::Result<()> {
    // SAFETY: this prctl takes one integer and touches no memory of ours.
    check(unsafe { libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL) })
}

/// Allows as many open files as the administrator does: a connection is one.
pub fn raise_file_limit() -> io::Result<()> {
    let mut limit = libc::rlimit { rlim_cur: 0, rlim_max: 0 };
    // SAFETY: both calls get a pointer to a live rlimit.
    unsafe {
        check(libc::getrlimit(libc::RLIMIT_NOFILE, &mut limit))?;
        limit.rlim_cur = limit.rlim_max;
        check(libc::setrlimit(libc::RLIMIT_NOFILE, &limit))
    }
}

/// Allows at least so many open files, if the administrator does. How many there may be now.
pub fn raise_file_limit_to(wanted: u64) -> io::Result<u64> {
    let mut limit = libc::rlimit { rlim_cur: 0, rlim_max: 0 };
    // SAFETY: both calls get a pointer to a live rlimit.
    unsafe {
        check(libc::getrlimit(libc::RLIMIT_NOFILE, &mut limit))?;
        if limit.rlim_cur < wanted && limit.rlim_max >= wanted {
            limit.rlim_cur = wanted;
            check(libc::setrlimit(libc::RLIMIT_NOFILE, &limit))?;
        }
    }
    Ok(limit.rlim_cur)
}

/// The processors this process may run on.
pub fn allowed_cpus() -> io::Result<Vec<usize>> {
    // SAFETY: a cpu_set_t is a plain array of bits, for which zeroes are valid.
    let mut set: libc::cpu_set_t = unsafe { mem::zeroed() };
    // SAFETY: the pointer is to a live set of the given size; 0 is the calling thread.
    check(unsafe { libc::sched_getaffinity(0, mem::size_of_val(&set), &mut set) })?;
    // SAFETY: every number asked for lies inside the set.
    Ok((0..libc::CPU_SETSIZE as usize).filter(|&cpu| unsafe { libc::CPU_ISSET(cpu, &set) }).collect())
}

/// Pins the calling thread.
pub fn pin(cpu: usize) -> io::Result<()> {
    if cpu >= libc::CPU_SETSIZE as usize {
        return Err(io::ErrorKind::InvalidInput.into());
    }
    // SAFETY: as in `allowed_cpus`; the number lies inside the set.
    let set = unsafe {
        let mut set: libc::cpu_set_t = mem::zeroed();
        libc::CPU_SET(cpu, &mut set);
        set
    };
    // SAFETY: the pointer is to a live set of the given size.
    check(unsafe { libc::sched_setaffinity(0, mem::size_of_val(&set), &set) })
}

fn check(result: libc::c_int) -> io::Result<()> {
    if result == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}

/// Ends quietly when nobody reads our output any more, as programs in C do.
pub fn end_with_reader() {
    // SAFETY: no handler of ours is involved; the default action is what every program begins with.
    unsafe { libc::signal(libc::SIGPIPE, libc::SIG_DFL) };
}

/// Calls `interrupted` when somebody asks us to stop with Ctrl-C, instead of ending at once. Only
/// while no other thread has been started: they inherit what is asked for here.
pub fn on_interrupt(interrupted: impl Fn() + Send + 'static) -> io::Result<()> {
    // SAFETY: a sigset_t is plain data; all calls get a pointer to a live one.
    let signals = unsafe {
        let mut signals: libc::sigset_t = mem::zeroed();
        check(libc::sigemptyset(&mut signals))?;
        check(libc::sigaddset(&mut signals, libc::SIGINT))?;
        let result = libc::pthread_sigmask(libc::SIG_BLOCK, &signals, std::ptr::null_mut());
        if result != 0 {
            return Err(io::Error::from_raw_os_error(result));
        }
        signals
    };
    let wait = move || {
        let mut signal = 0;
        // SAFETY: both pointers are to live values.
        while unsafe { libc::sigwait(&signals, &mut signal) } == 0 {
            interrupted();
        }
    };
    std::thread::Builder::new().name("interrupts".to_owned()).spawn(wait).map(drop)
}

/// How long the calling thread was runnable and waited for a processor. Kernels without scheduler
/// statistics do not say; then it is 0.
#[derive(Debug)]
pub struct RunDelay(Option<File>);

impl RunDelay {
    /// Of the calling thread, whoever reads it later.
    pub fn of_this_thread() -> Self {
        Self(File::open("/proc/thread-self/schedstat").ok())
    }

    pub fn total_ns(&self) -> u64 {
        // "time on a processor, time waiting for one, number of turns"
        let mut text = [0; 64];
        let bytes = self.0.as_ref().and_then(|file| file.read_at(&mut text, 0).ok()).unwrap_or(0);
        let text = std::str::from_utf8(&text[..bytes]).unwrap_or("");
        text.split_whitespace().nth(1).and_then(|number| number.parse().ok()).unwrap_or(0)
    }
}
