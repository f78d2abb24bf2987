//! The system's GSSAPI library, loaded when a server or the user asks for it: whoever has no Kerberos needs no library of it.
//!
//! Whatever the library makes for us is given back when it is dropped.

use super::interface::{
    AcquireCredential, Buffer, CONFIDENTIALITY, CONTINUE_NEEDED, DELEGATION, DeleteContext, DisplayStatus, ERRORS,
    HOST_BASED_SERVICE, Handle, INTEGRITY, ImportName, InitiateContext, LimitSize, MUTUAL, OF_GSSAPI, OF_INITIATOR,
    OF_MECHANISM, ObjectId, REPLAY, Release, ReleaseBuffer, SEQUENCE, Status, Unwrap, Wrap,
};
use std::error::Error as _;
use std::fmt;
use std::ptr;
use std::sync::OnceLock;

/// MIT's, which every distribution of Linux has.
const FILE: &str = "libgssapi_krb5.so.2";

#[derive(Debug)]
pub struct Library {
    import_name: ImportName,
    release_name: Release,
    acquire_credential: AcquireCredential,
    release_credential: Release,
    release_buffer: ReleaseBuffer,
    delete_context: DeleteContext,
    display_status: DisplayStatus,
    initiate_context: InitiateContext,
    limit_size: LimitSize,
    wrap: Wrap,
    unwrap: Unwrap,
    /// Unloaded with the rest, so no function outlives it.
    _loaded: libloading::Library,
}

/// What an exchange is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Purpose {
    /// To know each other.
    Login,
    /// Also to talk in secret.
    Encryption,
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
                acquire_credential: *loaded.get(b"gss_acquire_cred\0").map_err(unusable)?,
                release_credential: *loaded.get(b"gss_release_cred\0").map_err(unusable)?,
                limit_size: *loaded.get(b"gss_wrap_size_limit\0").map_err(unusable)?,
                wrap: *loaded.get(b"gss_wrap\0").map_err(unusable)?,
                unwrap: *loaded.get(b"gss_unwrap\0").map_err(unusable)?,
                _loaded: loaded,
            })
        }
    }

    /// gss_init_sec_context: one step of the exchange with `target`, given what it sent.
    pub fn initiate(
        &'static self,
        context: &mut Context,
        target: &Name,
        purpose: Purpose,
        delegates: bool,
        received: &[u8],
    ) -> Result<Turn, Refused> {
        let received = lent(received);
        let mut token = Given::none(self);
        let mut minor = 0;
        let asked = match purpose {
            Purpose::Login => MUTUAL,
            Purpose::Encryption => MUTUAL | REPLAY | SEQUENCE | CONFIDENTIALITY | INTEGRITY,
        };
        let flags = asked | if delegates { DELEGATION } else { 0 };
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

    /// gss_acquire_cred: whether there is anything to show who we are.
    pub fn has_credential(&self) -> bool {
        let (mut minor, mut credential) = (0, ptr::null_mut());
        // SAFETY: all pointers are to live values or null, which stands for defaults and for what we do not want back.
        let major = unsafe {
            (self.acquire_credential)(
                &raw mut minor,
                ptr::null_mut(),
                0,
                ptr::null(),
                OF_INITIATOR,
                &raw mut credential,
                ptr::null_mut(),
                ptr::null_mut(),
            )
        };
        // SAFETY: the handle is the library's and nobody uses it; of null nothing is released.
        unsafe { (self.release_credential)(&raw mut minor, &raw mut credential) };
        major & ERRORS == 0
    }

    /// gss_wrap_size_limit: how many bytes may be wrapped so that no more than `most` come out.
    pub fn wraps_at_most(&'static self, context: &Context, most: u32) -> Result<usize, Refused> {
        let (mut minor, mut fit) = (0, 0);
        // SAFETY: the context is of this library and live, and so are the values that are pointed to.
        let major = unsafe { (self.limit_size)(&raw mut minor, context.handle, 1, 0, most, &raw mut fit) };
        self.check(major, minor)?;
        Ok((fit as usize).max(1))
    }

    /// gss_wrap: the bytes encrypted, and whether they are.
    pub fn wrap(&'static self, context: &Context, text: &[u8]) -> Result<(Vec<u8>, bool), Refused> {
        let (text, mut wrapped, mut minor, mut is_secret) = (lent(text), Given::none(self), 0, 0);
        // SAFETY: the context is of this library and live, and so are all values that are pointed to; the library only
        // reads the text.
        let major = unsafe {
            (self.wrap)(
                &raw mut minor,
                context.handle,
                1,
                0,
                &raw const text,
                &raw mut is_secret,
                &raw mut wrapped.buffer,
            )
        };
        self.check(major, minor)?;
        Ok((wrapped.bytes().to_vec(), is_secret != 0))
    }

    /// gss_unwrap: the bytes decrypted, and whether they were encrypted.
    pub fn unwrap(&'static self, context: &Context, wrapped: &[u8]) -> Result<(Vec<u8>, bool), Refused> {
        let (wrapped, mut text, mut minor, mut is_secret) = (lent(wrapped), Given::none(self), 0, 0);
        // SAFETY: the context is of this library and live, and so are all values that are pointed to; the library only
        // reads what is wrapped, and null is allowed for the quality, which we do not want back.
        let major = unsafe {
            (self.unwrap)(
                &raw mut minor,
                context.handle,
                &raw const wrapped,
                &raw mut text.buffer,
                &raw mut is_secret,
                ptr::null_mut(),
            )
        };
        self.check(major, minor)?;
        Ok((text.bytes().to_vec(), is_secret != 0))
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

// SAFETY: RFC 2744 ties a context to no thread, and the library uses a lock of its own for what threads share; whoever has
// the context is the only one to use it.
unsafe impl Send for Context {}

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
