//! A server that speaks just enough of the protocol, on a Unix socket in a folder of its own, and
//! misbehaves as it is told. Nothing here sleeps.

// Each test file uses a part of this.
#![allow(dead_code)]

pub mod loops;

use std::collections::HashMap;
use std::io::{self, Read, Write};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Condvar, Mutex};
use std::time::Duration;
use std::{env, fs, process, thread};

pub const PORT: u16 = 5432;

/// How the server behaves. Executions are counted per connection, from 0.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Manner {
    Polite,
    WantsPassword,
    /// Refuses every connection but the first ones.
    RefusesConnections {
        from: usize,
    },
    GreetsWithGarbage,
    RefusesStatements,
    SeesOneParameterTooMany,
    /// Sends its answers a byte at a time.
    Drips,
    /// Sends notices and settings in between.
    Chatters,
    ClosesAt {
        execution: usize,
    },
    ShutsDownAt {
        execution: usize,
    },
    TruncatesAt {
        execution: usize,
    },
    SpeaksGarbageAt {
        execution: usize,
    },
    FailsAt {
        execution: usize,
    },
    FallsSilentAt {
        execution: usize,
    },
    /// Takes its time for one answer.
    StallsAt {
        execution: usize,
        stall: Duration,
    },
    AnswersTwiceAt {
        execution: usize,
    },
    /// Sends rows until nobody listens any more.
    BabblesAt {
        execution: usize,
    },
    /// Fails executions from time to time as if transactions were in each other's way.
    SerializesEvery {
        executions: usize,
    },
    RefusesRows,
    NeverTakesRows,
}

/// What connections have done, for tests to look at and wait for.
#[derive(Debug, Default)]
pub struct Seen {
    /// Parameters of every Bind: by connection, in their order.
    pub bound: Vec<Vec<Vec<Option<String>>>>,
    /// The name and value pairs of the last startup message.
    pub startup: Vec<String>,
    /// The connections of all Binds, in the order in which they came.
    pub order: Vec<usize>,
    pub queries: Vec<String>,
    pub copied: Vec<u8>,
    pub closed: usize,
}

pub struct FakeServer {
    folder: PathBuf,
    seen: Arc<(Mutex<Seen>, Condvar)>,
}

impl FakeServer {
    pub fn start(manner: Manner) -> Self {
        static NUMBER: AtomicU32 = AtomicU32::new(0);
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let folder = env::temp_dir().join(format!("pgverdict-fake-{}-{number}", process::id()));
        fs::create_dir_all(&folder).unwrap();
        let listener = UnixListener::bind(folder.join(format!(".s.PGSQL.{PORT}"))).unwrap();
        let seen = Arc::new((Mutex::new(Seen::default()), Condvar::new()));
        let shared = Arc::clone(&seen);
        thread::spawn(move || {
            for (number, stream) in listener.incoming().enumerate() {
                let shared = Arc::clone(&shared);
                shared.0.lock().unwrap().bound.push(Vec::new());
                let (stream, parameters) = (stream.unwrap(), Vec::new());
                let connection = Connection { stream, manner, number, seen: shared, executions: 0, parameters };
                thread::spawn(move || connection.serve());
            }
        });
        Self { folder, seen }
    }

    pub fn folder(&self) -> &Path {
        &self.folder
    }

    pub fn look<T>(&self, at: impl FnOnce(&Seen) -> T) -> T {
        at(&self.seen.0.lock().unwrap())
    }

    pub fn wait_until(&self, condition: impl Fn(&Seen) -> bool) {
        let (seen, changed) = &*self.seen;
        drop(changed.wait_while(seen.lock().unwrap(), |seen| !condition(seen)).unwrap());
    }
}

impl Drop for FakeServer {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.folder);
    }
}

struct Connection {
    stream: UnixStream,
    manner: Manner,
    number: usize,
    seen: Arc<(Mutex<Seen>, Condvar)>,
    executions: usize,
    /// Of the last Bind.
    parameters: Vec<Option<String>>,
}

/// Whether the connection lives on.
type Served = io::Result<bool>;

impl Connection {
    fn serve(mut self) {
        // The engine may close at any time.
        let _ = self.greet().and_then(|alive| if alive { self.answer() } else { Ok(()) });
        self.note(|seen| seen.closed += 1);
    }

    fn note(&self, change: impl FnOnce(&mut Seen)) {
        change(&mut self.seen.0.lock().unwrap());
        self.seen.1.notify_all();
    }

    fn greet(&mut self) -> Served {
        let body = self.body()?;
        let words = body[4..].split(|&byte| byte == 0).map(|word| String::from_utf8_lossy(word).into_owned());
        let words: Vec<String> = words.collect();
        self.note(|seen| seen.startup = words);
        let pid = 1000 + self.number as i32;
        let mut out = match self.manner {
            Manner::WantsPassword => message(b'R', &10i32.to_be_bytes()),
            Manner::GreetsWithGarbage => b"HTTP/1.1 400 Bad Request\r\n\r\n".to_vec(),
            Manner::RefusesConnections { from } if self.number >= from => {
                let error = error("FATAL", "53300", "sorry, too many clients already");
                self.stream.write_all(&error)?;
                return Ok(false);
            }
            _ => message(b'R', &0i32.to_be_bytes()),
        };
        out.extend(message(b'S', b"server_version\x0017.7 (fake)\0"));
        out.extend(message(b'K', &[pid.to_be_bytes(), [0; 4]].concat()));
        out.extend(ready(b'I'));
        self.send(&out)?;
        Ok(true)
    }

    fn send(&mut self, bytes: &[u8]) -> io::Result<()> {
        match self.manner {
            Manner::Drips => bytes.chunks(1).try_for_each(|byte| self.stream.write_all(byte)),
            _ => self.stream.write_all(bytes),
        }
    }

    fn body(&mut self) -> io::Result<Vec<u8>> {
        let mut length = [0; 4];
        self.stream.read_exact(&mut length)?;
        let mut body = vec![0; i32::from_be_bytes(length) as usize - 4];
        self.stream.read_exact(&mut body)?;
        Ok(body)
    }

    fn answer(&mut self) -> io::Result<()> {
        let mut statements: HashMap<Vec<u8>, String> = HashMap::new();
        let mut status = b'I';
        let mut bound = Vec::new();
        let mut out = Vec::new();
        // After an error everything up to Sync is skipped.
        let mut failed = false;
        loop {
            let mut tag = [0];
            self.stream.read_exact(&mut tag)?;
            let body = self.body()?;
            match tag[0] {
                b'X' => return Ok(()),
                b'S' => {
                    out.extend(ready(status));
                    failed = false;
                    self.send(&out)?;
                    out.clear();
                }
                b'Q' => {
                    let text = String::from_utf8_lossy(&body[..body.len() - 1]).into_owned();
                    self.note(|seen| seen.queries.push(text.clone()));
                    if text.starts_with("COPY") && self.manner != Manner::NeverTakesRows {
                        self.copy()?;
                    } else {
                        status = status_after(&text, status);
                        let row = if text.starts_with("SELECT") { ROW } else { &[] };
                        let answer = [row, &message(b'C', b"OK\0"), &ready(status)].concat();
                        self.send(&answer)?;
                    }
                }
                _ if failed => {}
                b'P' => {
                    let mut words = body.splitn(3, |&byte| byte == 0);
                    let (name, text) = (words.next().unwrap(), words.next().unwrap());
                    if self.manner == Manner::RefusesStatements {
                        out.extend(error("ERROR", "42P01", "relation \"pgbench_accounts\" does not exist"));
                        failed = true;
                    } else {
                        statements.insert(name.to_vec(), String::from_utf8_lossy(text).into_owned());
                        out.extend(message(b'1', b""));
                    }
                }
                // Of a portal: the rows are told by nobody.
                b'D' if body[0] == b'P' => out.extend(message(b'n', b"")),
                b'D' => {
                    let name = &body[1..body.len() - 1];
                    let mut count = statements[name].matches('$').count() as u16;
                    count += u16::from(self.manner == Manner::SeesOneParameterTooMany);
                    let types = vec![0; 4 * usize::from(count)];
                    out.extend(message(b't', &[&count.to_be_bytes()[..], &types].concat()));
                    out.extend(described(&statements[name]));
                }
                b'B' => {
                    let (name, parameters) = bind(&body);
                    let number = self.number;
                    self.parameters.clone_from(&parameters);
                    self.note(|seen| {
                        seen.bound[number].push(parameters);
                        seen.order.push(number);
                    });
                    bound = name;
                    out.extend(message(b'2', b""));
                }
                b'E' => {
                    let text = statements[&bound].clone();
                    if !self.execute(&text, &mut status, &mut failed, &mut out)? {
                        return Ok(());
                    }
                }
                tag => panic!("the engine sent a message of type {}", tag as char),
            }
        }
    }

    fn execute(&mut self, text: &str, status: &mut u8, failed: &mut bool, out: &mut Vec<u8>) -> Served {
        let execution = self.executions;
        self.executions += 1;
        match self.manner {
            Manner::ClosesAt { execution: at } if execution == at => return Ok(false),
            Manner::ShutsDownAt { execution: at } if execution == at => {
                let error = error("FATAL", "57P01", "terminating connection due to administrator command");
                self.stream.write_all(&error)?;
                return Ok(false);
            }
            Manner::TruncatesAt { execution: at } if execution == at => {
                self.stream.write_all(&message(b'D', &[0; 40])[..20])?;
                return Ok(false);
            }
            Manner::SpeaksGarbageAt { execution: at } if execution == at => {
                self.stream.write_all(b"\x01garbage")?;
                // Keeps the connection open until the engine has had enough.
                let _ = self.stream.read_to_end(&mut Vec::new());
                return Ok(false);
            }
            Manner::FallsSilentAt { execution: at } if execution == at => {
                let _ = self.stream.read_to_end(&mut Vec::new());
                return Ok(false);
            }
            Manner::StallsAt { execution: at, stall } if execution == at => thread::sleep(stall),
            Manner::BabblesAt { execution: at } if execution == at => loop {
                self.stream.write_all(&message(b'D', &[0; 40]))?;
            },
            Manner::FailsAt { execution: at } if execution == at => {
                out.extend(error("ERROR", "22012", "division by zero"));
                *failed = true;
                return Ok(true);
            }
            Manner::SerializesEvery { executions } if execution % executions == executions - 1 => {
                out.extend(error("ERROR", "40001", "could not serialize access due to concurrent update"));
                *failed = true;
                *status = if *status == b'I' { b'I' } else { b'E' };
                return Ok(true);
            }
            Manner::Chatters => {
                out.extend(message(b'N', b"SNOTICE\0C00000\0Mhello\0\0"));
                out.extend(message(b'S', b"TimeZone\0UTC\0"));
            }
            _ => {}
        }
        match columns(text) {
            columns if columns.is_empty() && text.starts_with("SELECT") => out.extend(ROW),
            columns if columns.is_empty() || text.ends_with("WHERE false") => {}
            columns => out.extend(self.row(&columns)),
        }
        *status = status_after(text, *status);
        out.extend(message(b'C', b"OK\0"));
        if let Manner::AnswersTwiceAt { execution: at } = self.manner
            && execution == at
        {
            out.extend(ready(*status));
        }
        Ok(true)
    }

    /// What `SELECT value AS name, ...` answers: a value is `$n`, NULL, or itself.
    fn row(&self, columns: &[(String, String)]) -> Vec<u8> {
        let mut body = (columns.len() as u16).to_be_bytes().to_vec();
        for (value, _) in columns {
            let value = match value.strip_prefix('$') {
                Some(number) => self.parameters[number.parse::<usize>().unwrap() - 1].clone(),
                None => Some(value.clone()).filter(|value| value != "NULL"),
            };
            body.extend(value.as_ref().map_or(-1, |value| value.len() as i32).to_be_bytes());
            body.extend(value.unwrap_or_default().as_bytes());
        }
        message(b'D', &body)
    }

    fn copy(&mut self) -> io::Result<()> {
        self.send(&message(b'G', &[0; 3]))?;
        loop {
            let mut tag = [0];
            self.stream.read_exact(&mut tag)?;
            let body = self.body()?;
            match tag[0] {
                b'd' if self.manner == Manner::RefusesRows => {
                    self.send(&error("ERROR", "53100", "could not extend file: No space left on device"))?;
                    self.send(&ready(b'E'))?;
                    // As a real server does, swallows what else comes.
                    let _ = self.stream.read_to_end(&mut Vec::new());
                    return Ok(());
                }
                b'd' => self.note(|seen| seen.copied.extend(body)),
                b'c' => return self.send(&[message(b'C', b"COPY\0"), ready(b'I')].concat()),
                tag => panic!("the engine sent a message of type {} in a COPY", tag as char),
            }
        }
    }
}

/// One column with the text `0`.
const ROW: &[u8] = b"D\0\0\0\x0b\0\x01\0\0\0\x010";

/// Values and names of `SELECT value AS name, ...`; none where there is no AS.
fn columns(text: &str) -> Vec<(String, String)> {
    let Some(list) = text.strip_prefix("SELECT ").filter(|list| list.contains(" AS ")) else { return Vec::new() };
    let list = list.strip_suffix(" WHERE false").unwrap_or(list);
    let columns = list.split(", ").map(|column| column.split_once(" AS ").unwrap());
    columns.map(|(value, name)| (value.to_owned(), name.to_owned())).collect()
}

/// RowDescription, or NoData.
fn described(text: &str) -> Vec<u8> {
    let columns = columns(text);
    if columns.is_empty() {
        return message(b'n', b"");
    }
    let mut body = (columns.len() as u16).to_be_bytes().to_vec();
    for (_, name) in columns {
        body.extend(name.as_bytes());
        body.extend([0; 19]);
    }
    message(b'T', &body)
}

fn status_after(text: &str, status: u8) -> u8 {
    match text {
        "BEGIN" => b'T',
        "END" | "COMMIT" | "ROLLBACK" => b'I',
        _ => status,
    }
}

fn message(tag: u8, body: &[u8]) -> Vec<u8> {
    [&[tag][..], &(body.len() as i32 + 4).to_be_bytes(), body].concat()
}

fn ready(status: u8) -> Vec<u8> {
    message(b'Z', &[status])
}

fn error(severity: &str, sqlstate: &str, text: &str) -> Vec<u8> {
    message(b'E', format!("S{severity}\0C{sqlstate}\0M{text}\0\0").as_bytes())
}

/// The statement's name and the parameters of a Bind.
fn bind(body: &[u8]) -> (Vec<u8>, Vec<Option<String>>) {
    let (portal, rest) = body.split_at(body.iter().position(|&byte| byte == 0).unwrap());
    assert!(portal.is_empty());
    let rest = &rest[1..];
    let end = rest.iter().position(|&byte| byte == 0).unwrap();
    let (name, mut rest) = (rest[..end].to_vec(), &rest[end + 1..]);
    let mut take = |bytes: usize| {
        let (taken, left) = rest.split_at(bytes);
        rest = left;
        taken
    };
    assert_eq!(take(2), [0, 0], "all parameters are text");
    let count = u16::from_be_bytes(take(2).try_into().unwrap());
    let parameters = (0..count).map(|_| match i32::from_be_bytes(take(4).try_into().unwrap()) {
        -1 => None,
        length => Some(String::from_utf8(take(length as usize).to_vec()).unwrap()),
    });
    let parameters = parameters.collect();
    assert_eq!(take(2), [0, 0], "all results are text");
    (name, parameters)
}
