//! The C interface of GSSAPI libraries, as RFC 2744 has it since 2000: types, constants, and functions by their types.

use std::ffi::c_void;

/// OM_uint32.
pub type Status = u32;
/// To a name, a credential or a context; what is there is the library's own.
pub type Handle = *mut c_void;

/// Upper half of a status: errors. The lower half of one without errors says what is still to do.
pub const ERRORS: Status = 0xffff_0000;
pub const CONTINUE_NEEDED: Status = 1;
/// What is asked of a context.
pub const DELEGATION: u32 = 1;
pub const MUTUAL: u32 = 2;
pub const REPLAY: u32 = 4;
pub const SEQUENCE: u32 = 8;
pub const CONFIDENTIALITY: u32 = 16;
pub const INTEGRITY: u32 = 32;
/// Whose credentials: those of one who begins exchanges.
pub const OF_INITIATOR: i32 = 1;
/// Which of the two parts of a status a text is asked for.
pub const OF_GSSAPI: i32 = 1;
pub const OF_MECHANISM: i32 = 2;

/// gss_buffer_desc
#[repr(C)]
#[derive(Debug)]
pub struct Buffer {
    pub length: usize,
    pub value: *mut c_void,
}

/// gss_OID_desc
#[repr(C)]
pub struct ObjectId {
    pub length: u32,
    pub elements: *const c_void,
}

/// GSS_C_NT_HOSTBASED_SERVICE: 1.2.840.113554.1.2.1.4
pub const HOST_BASED_SERVICE: &[u8] = b"\x2a\x86\x48\x86\xf7\x12\x01\x02\x01\x04";

pub type ImportName = unsafe extern "C" fn(*mut Status, *const Buffer, *const ObjectId, *mut Handle) -> Status;
/// Of a name or a credential.
pub type Release = unsafe extern "C" fn(*mut Status, *mut Handle) -> Status;
pub type ReleaseBuffer = unsafe extern "C" fn(*mut Status, *mut Buffer) -> Status;
pub type DeleteContext = unsafe extern "C" fn(*mut Status, *mut Handle, *mut Buffer) -> Status;
pub type DisplayStatus =
    unsafe extern "C" fn(*mut Status, Status, i32, *const ObjectId, *mut u32, *mut Buffer) -> Status;
/// Minor status, name, lifetime, mechanisms, usage; then what comes back: credential, mechanisms, lifetime.
pub type AcquireCredential =
    unsafe extern "C" fn(*mut Status, Handle, u32, *const c_void, i32, *mut Handle, *mut Handle, *mut u32) -> Status;
/// Minor status, credential, context, target, mechanism, flags, lifetime, channel bindings, token from the server; then
/// what comes back: mechanism, token to the server, flags, lifetime.
pub type InitiateContext = unsafe extern "C" fn(
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

/// Minor status, context, whether confidential, quality, most bytes of a packet; then what comes back: most bytes in it.
pub type LimitSize = unsafe extern "C" fn(*mut Status, Handle, i32, u32, u32, *mut u32) -> Status;
/// Minor status, context, whether confidential, quality, text; then what comes back: whether it was, packet.
pub type Wrap = unsafe extern "C" fn(*mut Status, Handle, i32, u32, *const Buffer, *mut i32, *mut Buffer) -> Status;
/// Minor status, context, packet; then what comes back: text, whether it was confidential, quality.
pub type Unwrap = unsafe extern "C" fn(*mut Status, Handle, *const Buffer, *mut Buffer, *mut i32, *mut u32) -> Status;
