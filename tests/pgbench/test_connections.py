"""TCP, TLS and passwords, against a real server."""

from pathlib import Path

import pytest

from pgverdict.servers.account import Account

from .asking import OVERFLOWING, ask
from .listener import PASSWORD, TRADITIONAL_CIPHERS, Listener, ask_about_tls

pytestmark = pytest.mark.slow


@pytest.mark.parametrize(
    ("user", "more", "tls"),
    [
        ("md5_user", "", True),
        ("scram_user", "", True),
        ("scram_user", "channel_binding=require", True),
        ("scram_user", "channel_binding=disable sslmode=require", True),
        ("plain_user", "sslmode=disable", False),
        ("plain_user", "sslmode=prefer", False),
        ("bare_scram_user", "", False),
        ("tls_user", "sslmode=allow", True),
        ("tls_user", "sslmode=verify-ca sslrootcert={folder}/localhost.crt", True),
        ("tls_user", "sslmode=verify-full sslrootcert={folder}/localhost.crt", True),
        ("open_user", "", False),
        ("open_user", "sslmode=allow", False),
        ("cert_user", "sslmode=require sslcert={folder}/cert_user.crt sslkey={folder}/cert_user.key", True),
        ("scram_user", "require_auth=scram-sha-256,md5", True),
        ("md5_user", "require_auth=!password,!none", True),
        (
            "cert_user",
            "sslmode=require sslcert={folder}/cert_user.crt sslkey={folder}/locked.key sslpassword=hush",
            True,
        ),
        *(
            (
                "cert_user",
                f"sslmode=require sslcert={{folder}}/cert_user.crt sslkey={{folder}}/{cipher}.key sslpassword=hush",
                True,
            )
            for cipher in TRADITIONAL_CIPHERS
        ),
        (
            "tls_user",
            "sslcert={folder}/cert_user.crt sslkey={folder}/cert_user.key sslcertmode=require",
            True,
        ),
        ("tls_user", "require_auth=none", True),
        ("tls_user", "target_session_attrs=read-write", True),
        ("tls_user", "target_session_attrs=prefer-standby load_balance_hosts=random", True),
        ("tls_user", "sslmode=require sslnegotiation=direct", True),
        ("tls_user", "ssl_min_protocol_version=TLSv1.3 sslsni=0", True),
        ("tls_user", "ssl_max_protocol_version=TLSv1.2", True),
        (
            "open_user",
            "keepalives_idle=10 keepalives_interval=2 keepalives_count=3 tcp_user_timeout=9000",
            False,
        ),
    ],
)
def test_a_user_gets_in_as_the_server_and_the_user_want_it(
    our_pgbench: Path, listener: Listener, tmp_path: Path, user: str, more: str, tls: bool
) -> None:
    where = f"host=localhost hostaddr=127.0.0.1 port={listener.port} user={user} dbname=postgres "

    code, said = ask_about_tls(
        our_pgbench, tmp_path, where + more.format(folder=listener.folder), PGPASSWORD=PASSWORD
    )

    assert (code, f"boolean {str(tls).lower()}" in said) == (0, True), said


@pytest.mark.parametrize(("user", "mode"), [("open_user", "disable"), ("tls_user", "require")])
def test_a_pipeline_that_overflows_is_sent_while_it_is_answered(
    our_pgbench: Path, listener: Listener, tmp_path: Path, user: str, mode: str
) -> None:
    where = f"host=127.0.0.1 port={listener.port} user={user} dbname=postgres sslmode={mode}"
    code, said = ask(our_pgbench, tmp_path, OVERFLOWING, where, {}, "-M", "extended")
    assert code == 0, said


@pytest.mark.parametrize(
    ("user", "more", "password", "why"),
    [
        ("scram_user", "", "wrong", "FATAL:  password authentication failed for user"),
        ("md5_user", "", "wrong", "FATAL:  password authentication failed for user"),
        ("scram_user", "", "", "fe_sendauth: no password supplied"),
        ("tls_user", "sslmode=disable", "", "FATAL:  no pg_hba.conf entry for host"),
        ("open_user", "sslmode=require", "", "FATAL:  no pg_hba.conf entry for host"),
        (
            "bare_scram_user",
            "sslmode=disable channel_binding=require",
            PASSWORD,
            "channel binding is required",
        ),
        ("tls_user", "sslmode=verify-ca", "", '.postgresql/root.crt" does not exist'),
        ("tls_user", "sslmode=verify-ca sslrootcert={folder}/stranger.crt", "", "certificate verify failed"),
        (
            "tls_user",
            "host=127.0.0.1 sslmode=verify-full sslrootcert={folder}/localhost.crt",
            "",
            'server certificate for "localhost" does not match host name "127.0.0.1"',
        ),
        (
            "plain_user",
            "sslmode=disable require_auth=scram-sha-256",
            PASSWORD,
            "server requested a cleartext password",
        ),
        ("md5_user", "require_auth=!md5", PASSWORD, "server requested a hashed password"),
        ("open_user", "sslmode=disable require_auth=!none", "", "server did not complete authentication"),
        (
            "open_user",
            "sslmode=disable target_session_attrs=standby",
            "",
            "server is not in hot standby mode",
        ),
        ("open_user", "sslmode=disable target_session_attrs=read-only", "", "session is not read-only"),
        (
            "cert_user",
            "sslcert={folder}/cert_user.crt sslkey={folder}/cert_user.key sslcertmode=disable",
            "",
            "requires a valid client certificate",
        ),
        (
            "tls_user",
            "sslmode=require sslcertmode=require",
            "",
            "server accepted connection without a valid SSL certificate",
        ),
        (
            "open_user",
            "sslmode=disable sslcertmode=require",
            "",
            "server did not request an SSL certificate",
        ),
        (
            "cert_user",
            "sslmode=require sslcert={folder}/cert_user.crt sslkey={folder}/locked.key sslpassword=loud",
            "",
            "could not load private key file",
        ),
        (
            "cert_user",
            "sslmode=require sslcert={folder}/cert_user.crt sslkey={folder}/locked.key",
            "",
            "it is encrypted, and there is no sslpassword",
        ),
        (
            "cert_user",
            "sslmode=require sslcert={folder}/cert_user.crt sslkey={folder}/aes256.key sslpassword=loud",
            "",
            "could not load private key file",
        ),
        (
            "cert_user",
            "sslmode=require sslcert={folder}/cert_user.crt sslkey={folder}/aes256.key",
            "",
            "it is encrypted, and there is no sslpassword",
        ),
        (
            "tls_user",
            "sslmode=verify-ca sslrootcert={folder}/localhost.crt sslcrl=/no/such",
            "",
            "list of revocations",
        ),
        (
            "tls_user",
            "sslmode=prefer sslnegotiation=direct",
            "",
            "may not be used with sslnegotiation=direct",
        ),
        (
            "tls_user",
            "sslmode=require gssencmode=require",
            "",
            "GSSAPI encryption required but no credential cache",
        ),
        ("tls_user", "sslmode=require gsslib=sspi", "", 'connection option "gsslib" is not supported'),
    ],
)
def test_who_is_not_let_in_is_told_why(
    our_pgbench: Path, listener: Listener, tmp_path: Path, user: str, more: str, password: str, why: str
) -> None:
    where = f"host=localhost hostaddr=127.0.0.1 port={listener.port} user={user} dbname=postgres "

    code, said = ask_about_tls(
        our_pgbench, tmp_path, where + more.format(folder=listener.folder), PGPASSWORD=password
    )

    assert code == 1
    assert why in said, said


@pytest.mark.parametrize(("peer", "let_in"), [("{owner}", True), ("nobody-of-that-name", False)])
def test_a_socket_is_only_trusted_if_its_owner_is_the_one_that_is_asked_for(
    our_pgbench: Path, listener: Listener, account: Account, tmp_path: Path, peer: str, let_in: bool
) -> None:
    peer = peer.format(owner=account.name)
    where = (
        f"host={listener.folder}/data port={listener.port} user=postgres dbname=postgres requirepeer={peer}"
    )

    code, said = ask_about_tls(our_pgbench, tmp_path, where)

    assert (code == 0) == let_in, said
    assert let_in or f'requirepeer specifies "{peer}", but actual peer user name is "{account.name}"' in said


def test_a_password_file_and_a_service_file_are_read(
    our_pgbench: Path, listener: Listener, tmp_path: Path
) -> None:
    escaped = PASSWORD.replace("\\", "\\\\").replace(":", "\\:")
    passwords, services = tmp_path / ".pgpass", tmp_path / ".pg_service.conf"
    passwords.write_text(f"127.0.0.1:{listener.port}:*:scram_user:{escaped}\n")
    passwords.chmod(0o600)
    services.write_text(f"[test]\nhost=127.0.0.1\nport={listener.port}\nuser=scram_user\ndbname=postgres\n")

    code, said = ask_about_tls(our_pgbench, tmp_path, "service=test")
    assert (code, "boolean true" in said) == (0, True), said

    passwords.chmod(0o644)
    code, said = ask_about_tls(our_pgbench, tmp_path, "service=test")
    assert code == 1
    assert "has group or world access" in said
