//! The system's GSSAPI library, loaded when a server asks for it: whoever has no Kerberos needs no library of it.
//!
//! The C interface is that of RFC 2744, which has been the same since 2000; types and constants are its. Whatever the
//! library makes for us is given back when it is dropped.

use std::error::Error as _;
use std::ffi::c_void;
use std::fmt;
use std::ptr;
use std::sync::OnceLock;

/// MIT's, which every distribution of Linux has.
const FILE: &str = "libgssapi_krb5.so.2";

/// OM_uint32.
type Status = u32;
type Handle = *mut c_void;

/// Upper half of a status: errors. The lower half of one without errors says what is still to do.
const ERRORS: Status = 0xffff_0000;
const CONTINUE_NEEDED: Status = 1;
const DELEGATION: u32 = 1;
const MUTUAL: u32 = 2;
/// Which of the two parts of a status a text is asked for.
const OF_GSSAPI: i32 = 1;
const OF_MECHANISM: i32 = 2;

/// gss_buffer_desc
#[repr(C)]
#[derive(Debug)]
struct Buffer {
    length: usize,
    value: *mut c_void,
}

/// gss_OID_desc
#[repr(C)]
struct ObjectId {
    length: u32,
    elements: *const c_void,
}

/// GSS_C_NT_HOSTBASED_SERVICE: 1.2.840.113554.1.2.1.4
const HOST_BASED_SERVICE: &[u8] = b"\x2a\x86\x48\x86\xf7\x12\x01\x02\x01\x04";

type ImportName = unsafe extern "C" fn(*mut Status, *const Buffer, *const ObjectId, *mut Handle) -> Status;
type ReleaseName = unsafe extern "C" fn(*mut Status, *mut Handle) -> Status;
type ReleaseBuffer = unsafe extern "C" fn(*mut Status, *mut Buffer) -> Status;
type DeleteContext = unsafe extern "C" fn(*mut Status, *mut Handle, *mut Buffer) -> Status;
type DisplayStatus = unsafe extern "C" fn(*mut Status, Status, i32, *const ObjectId, *mut u32, *mut Buffer) -> Status;
/// Minor status, credential, context, target, mechanism, flags, lifetime, channel bindings, token from the server; then
/// what comes back: mechanism, token to the server, flags, lifetime.
type InitiateContext = unsafe extern "C" fn(
    *mut Status,
    Handle,
    *mut Handle,
    Handle,
    *const ObjectId,
    u32,
    u32,
    *const c_void,
    *const Buffer,
    *mut *mut ObjectId,
    *mut Buffer,
    *mut u32,
    *mut u32,
) -> Status;

#[derive(Debug)]
pub struct Library {
    import_name: ImportName,
    release_name: ReleaseName,
    release_buffer: ReleaseBuffer,
    delete_context: DeleteContext,
    display_status: DisplayStatus,
    initiate_context: InitiateContext,
    /// Unloaded with the rest, so no function outlives it.
    _loaded: libloading::Library,
}

/// What one step of an exchange came to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Turn {
    /// What the server is to be sent; may be empty.
    pub token: Vec<u8>,
    pub is_done: bool,
}

impl Library {
    /// That of this system, loaded once and kept.
    pub fn of_system() -> Result<&'static Self, String> {
        static LOADED: OnceLock<Result<Library, String>> = OnceLock::new();
        LOADED.get_or_init(|| Self::load(FILE)).as_ref().map_err(Clone::clone)
    }

    fn load(file: &str) -> Result<Self, String> {
        let unusable = |error: libloading::Error| {
            // What the loader says is behind an error that only says whose it is.
            let said = error.source().map_or_else(|| error.to_string(), ToString::to_string);
            format!(
                "could not load the library that GSSAPI authentication needs: {said} (hint: {FILE} is in \
                 libgssapi-krb5-2 on Debian and Ubuntu, in krb5-libs on Fedora and Red Hat)"
            )
        };
        // SAFETY: a library that the system's loader finds by this name; what it does when it is loaded is what it
        // does in every program that links to it.
        let loaded = unsafe { libloading::Library::new(file) }.map_err(unusable)?;
        // SAFETY: the types are those that RFC 2744 gives the functions of these names, and the library is kept as
        // long as they are.
        unsafe {
            Ok(Self {
                import_name: *loaded.get(b"gss_import_name\0").map_err(unusable)?,
                release_name: *loaded.get(b"gss_release_name\0").map_err(unusable)?,
                release_buffer: *loaded.get(b"gss_release_buffer\0").map_err(unusable)?,
                delete_context: *loaded.get(b"gss_delete_sec_context\0").map_err(unusable)?,
                display_status: *loaded.get(b"gss_display_status\0").map_err(unusable)?,
                initiate_context: *loaded.get(b"gss_init_sec_context\0").map_err(unusable)?,
                _loaded: loaded,
            })
        }
    }

    /// gss_init_sec_context: one step of the exchange with `target`, given what it sent.
    pub fn initiate(
        &'static self,
        context: &mut Context,
        target: &Name,
        delegates: bool,
        received: &[u8],
    ) -> Result<Turn, Refused> {
        let received = lent(received);
        let mut token = Given::none(self);
        let mut minor = 0;
        let flags = MUTUAL | if delegates { DELEGATION } else { 0 };
        // SAFETY: name and context are of this library and live; the context may be the null that begins an exchange.
        // Both buffers live as long as the call, and the library only reads the one that came. Credential, mechanism,
        // lifetime and channel bindings are defaults, and null is allowed for what we do not want back.
        let major = unsafe {
            (self.initiate_context)(
                &raw mut minor,
                ptr::null_mut(),
                &raw mut context.handle,
                target.handle,
                ptr::null(),
                flags,
                0,
                ptr::null(),
                &raw const received,
                ptr::null_mut(),
                &raw mut token.buffer,
                ptr::null_mut(),
                ptr::null_mut(),
            )
        };
        self.check(major, minor)?;
        Ok(Turn { token: token.bytes().to_vec(), is_done: major & CONTINUE_NEEDED == 0 })
    }

    fn check(&'static self, major: Status, minor: Status) -> Result<(), Refused> {
        if major & ERRORS == 0 {
            return Ok(());
        }
        Err(Refused { general: self.texts(major, OF_GSSAPI), particular: self.texts(minor, OF_MECHANISM) })
    }

    /// What the library calls one part of a status.
    fn texts(&'static self, status: Status, part: i32) -> String {
        let mut texts = Vec::new();
        let mut more = 0;
        loop {
            let mut text = Given::none(self);
            let mut minor = 0;
            // SAFETY: all pointers are to live values; a null mechanism is the default one.
            let major = unsafe {
                (self.display_status)(&raw mut minor, status, part, ptr::null(), &raw mut more, &raw mut text.buffer)
            };
            if major & ERRORS == 0 {
                texts.push(String::from_utf8_lossy(text.bytes()).into_owned());
            }
            if major & ERRORS != 0 || more == 0 {
                return texts.join(" ");
            }
        }
    }
}

/// A failure in the library's words: GSSAPI's, and the mechanism's.
#[derive(Debug)]
pub struct Refused {
    general: String,
    particular: String,
}

impl fmt::Display for Refused {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{}: {}", self.general, self.particular)
    }
}

/// Bytes of ours, for the library to read.
fn lent(bytes: &[u8]) -> Buffer {
    Buffer { length: bytes.len(), value: bytes.as_ptr().cast_mut().cast() }
}

/// Bytes that the library has made.
struct Given {
    library: &'static Library,
    buffer: Buffer,
}

impl Given {
    fn none(library: &'static Library) -> Self {
        Self { library, buffer: Buffer { length: 0, value: ptr::null_mut() } }
    }

    fn bytes(&self) -> &[u8] {
        if self.buffer.value.is_null() {
            return &[];
        }
        // SAFETY: the library has filled the buffer, whose bytes are there until it is released by our drop.
        unsafe { std::slice::from_raw_parts(self.buffer.value.cast(), self.buffer.length) }
    }
}

impl Drop for Given {
    fn drop(&mut self) {
        let mut minor = 0;
        // SAFETY: the buffer is empty, or the library has filled it; nobody has its bytes any more.
        unsafe { (self.library.release_buffer)(&raw mut minor, &raw mut self.buffer) };
    }
}

/// gss_name_t
#[derive(Debug)]
pub struct Name {
    library: &'static Library,
    handle: Handle,
}

impl Name {
    /// Of a service on a host: `service@host`.
    pub fn import(library: &'static Library, service: &str) -> Result<Self, Refused> {
        let kind = ObjectId { length: HOST_BASED_SERVICE.len() as u32, elements: HOST_BASED_SERVICE.as_ptr().cast() };
        let text = lent(service.as_bytes());
        let mut name = Self { library, handle: ptr::null_mut() };
        let mut minor = 0;
        // SAFETY: all pointers are to live values, of which the library writes to nothing but status and handle.
        let major =
            unsafe { (library.import_name)(&raw mut minor, &raw const text, &raw const kind, &raw mut name.handle) };
        library.check(major, minor).map(|()| name)
    }
}

impl Drop for Name {
    fn drop(&mut self) {
        let mut minor = 0;
        // SAFETY: the handle is the library's and used by nobody else; of null nothing is released.
        unsafe { (self.library.release_name)(&raw mut minor, &raw mut self.handle) };
    }
}

/// gss_ctx_id_t: null before the first step.
#[derive(Debug)]
pub struct Context {
    library: &'static Library,
    handle: Handle,
}

impl Context {
    pub fn none(library: &'static Library) -> Self {
        Self { library, handle: ptr::null_mut() }
    }
}

impl Drop for Context {
    fn drop(&mut self) {
        let mut minor = 0;
        // SAFETY: the handle is the library's and used by nobody else; of null nothing is deleted. No token is wanted.
        unsafe { (self.library.delete_context)(&raw mut minor, &raw mut self.handle, ptr::null_mut()) };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_system_without_the_library_is_told_its_packages() {
        let error = Library::load("libgssapi_of_nobody.so.2").unwrap_err();
        for told in ["libgssapi_of_nobody.so.2", "libgssapi-krb5-2 on Debian", "krb5-libs on Fedora"] {
            assert!(error.contains(told), "{error}");
        }
    }

    #[test]
    fn a_library_without_its_functions_is_refused_by_their_name() {
        let error = Library::load("libc.so.6").unwrap_err();
        assert!(error.contains("gss_import_name"), "{error}");
    }
}
