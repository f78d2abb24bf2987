//! Memory that the kernel puts into what it receives, shared by all sockets of a ring.
//!
//! It begins with a list, which the kernel and we both see, of the buffers that it may use. It takes them from the front;
//! those that are given back are added at the end.

use io_uring::Submitter;
use io_uring::types::BufRingEntry;
use std::alloc::{self, Layout};
use std::io;
use std::ptr::NonNull;
use std::sync::atomic::{AtomicU16, Ordering};

/// The only group of buffers that a ring has.
pub const GROUP: u16 = 0;

/// Of one: most answers are far smaller, and a long one takes several. Where there are many sockets they have to do with
/// less, so that all together are not more than this.
const BUFFER_BYTES: [usize; 2] = [512, 4096];
const ALL_BYTES: usize = 8 << 20;
const PAGE_BYTES: usize = 4096;

/// At least so many, and at most: one for every socket, since all may answer at once. When they run out, sockets wait
/// until the next turn, which costs each of them a request.
const COUNT_MIN: usize = 16;
const COUNT_MAX: usize = 16_384;

/// A buffer that the kernel has filled. Made by nobody else, and given back once.
#[derive(Debug)]
pub struct Taken {
    number: u16,
    length: u32,
}

impl Taken {
    pub(super) fn new(number: u16, length: u32) -> Self {
        Self { number, length }
    }
}

pub struct Buffers {
    memory: NonNull<u8>,
    layout: Layout,
    count: u16,
    /// Of each.
    buffer_bytes: usize,
    /// How many were ever put on the list, which wraps around.
    given: u16,
    is_leaked: bool,
}

impl Buffers {
    pub fn shared_by(sockets: usize) -> Self {
        let count = sockets.next_power_of_two().clamp(COUNT_MIN, COUNT_MAX);
        let [least, most] = BUFFER_BYTES;
        let buffer_bytes = (ALL_BYTES / count).clamp(least, most);
        let bytes = Self::list_bytes(count) + count * buffer_bytes;
        let layout = Layout::from_size_align(bytes, PAGE_BYTES).expect("a few megabytes");
        // SAFETY: the size is not zero.
        let memory = NonNull::new(unsafe { alloc::alloc_zeroed(layout) });
        let memory = memory.unwrap_or_else(|| alloc::handle_alloc_error(layout));
        let mut buffers = Self { memory, layout, count: count as u16, buffer_bytes, given: 0, is_leaked: false };
        (0..buffers.count).for_each(|number| buffers.give_back(Taken::new(number, 0)));
        buffers
    }

    fn list_bytes(count: usize) -> usize {
        (count * size_of::<BufRingEntry>()).next_multiple_of(PAGE_BYTES)
    }

    pub fn register(&self, submitter: &Submitter<'_>) -> io::Result<()> {
        // SAFETY: the list has as many entries, and a ring is closed before its buffers are freed.
        unsafe { submitter.register_buf_ring_with_flags(self.memory.as_ptr() as u64, self.count, GROUP, 0) }
    }

    fn buffer(&self, number: u16) -> *mut u8 {
        assert!(number < self.count, "the kernel took a buffer that there is not");
        let offset = Self::list_bytes(self.count.into()) + usize::from(number) * self.buffer_bytes;
        // SAFETY: the memory is as large as its list and that many buffers.
        unsafe { self.memory.as_ptr().add(offset) }
    }

    #[inline]
    pub fn bytes(&self, taken: &Taken) -> &[u8] {
        let length = self.buffer_bytes.min(taken.length as usize);
        // SAFETY: the buffer is as long, its bytes were set (to zero) when it was made, and the kernel has no right to
        // it until it is given back, which takes `&mut self`.
        unsafe { std::slice::from_raw_parts(self.buffer(taken.number), length) }
    }

    #[inline]
    pub fn give_back(&mut self, taken: Taken) {
        let buffer = self.buffer(taken.number) as u64;
        let list: *mut BufRingEntry = self.memory.as_ptr().cast();
        let place = usize::from(self.given & (self.count - 1));
        self.given = self.given.wrapping_add(1);
        // SAFETY: the list has that place, which the kernel does not look at before it is told of it by the last line;
        // the number told there lies in the list's first entry, is aligned, and is written by nobody else.
        unsafe {
            let entry = &mut *list.add(place);
            entry.set_addr(buffer);
            entry.set_len(self.buffer_bytes as u32);
            entry.set_bid(taken.number);
            AtomicU16::from_ptr(BufRingEntry::tail(list).cast_mut()).store(self.given, Ordering::Release);
        }
    }

    /// Never frees the memory.
    pub fn leak(&mut self) {
        self.is_leaked = true;
    }
}

impl Drop for Buffers {
    fn drop(&mut self) {
        if !self.is_leaked {
            // SAFETY: it was allocated so, and nobody has it any more.
            unsafe { alloc::dealloc(self.memory.as_ptr(), self.layout) }
        }
    }
}
