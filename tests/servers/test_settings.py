"""What goes into a server's configuration."""

from pathlib import Path

import pytest

from pgverdict.errors import UserError
from pgverdict.servers.install import Install
from pgverdict.servers.settings import REFUSED, blame_settings, check_settings, render_settings

from .conftest import MakeServer

SOCKETS = Path("/tmp/s")


def test_own_settings_stand_apart_from_the_users() -> None:
    own, _, asked = render_settings({"Work_Mem": "8MB"}, socket_directory=SOCKETS).partition(
        "# What the user"
    )

    assert "listen_addresses = ''\n" in own
    assert "work_mem" not in own
    assert "work_mem = '8MB'\n" in asked


def test_libraries_of_the_user_are_loaded_beside_our_own() -> None:
    text = render_settings({"shared_preload_libraries": "auto_explain"}, socket_directory=SOCKETS)

    last = [line for line in text.splitlines() if line.startswith("shared_preload_libraries")][-1]
    assert last == "shared_preload_libraries = 'pg_stat_statements, auto_explain'"


def test_counting_statements_can_be_left_out() -> None:
    assert "pg_stat_statements" not in render_settings({}, socket_directory=SOCKETS, statements=False)


@pytest.mark.parametrize("name", sorted(REFUSED))
def test_settings_that_break_safety_are_refused(name: str) -> None:
    with pytest.raises(UserError, match=name):
        check_settings({name.upper(): "x"})


@pytest.mark.parametrize("name", ["", "work mem", "a = 1\nport", "include 'x'", "a.", "1a", "x'"])
def test_what_cannot_be_a_name_is_refused(name: str) -> None:
    with pytest.raises(UserError, match="not the name of a setting"):
        check_settings({name: "1"})


def test_a_setting_in_two_spellings_is_given_twice() -> None:
    with pytest.raises(UserError, match="twice: work_mem"):
        check_settings({"work_mem": "1MB", "WORK_MEM": "2MB"})


def test_any_value_arrives_as_it_was_written(any_install: Install, borrow_server: MakeServer) -> None:
    odd = "it's a \\ 'quoted' \"word\" # no comment\nand a second line"
    server = borrow_server(any_install, **{"ssl_cert_file": odd, "work_mem": "12MB", "ssl_key_file": ""})

    with server, server.connect() as connection:
        assert connection.execute("SELECT current_setting('ssl_cert_file')").fetchone() == (odd,)
        assert connection.execute("SELECT current_setting('work_mem')").fetchone() == ("12MB",)


def test_servers_count_statements_and_listen_on_no_port(
    any_install: Install, make_server: MakeServer
) -> None:
    server = make_server(any_install, shared_preload_libraries="auto_explain")
    with server, server.connect() as connection:
        shown = connection.execute(
            "SELECT current_setting('listen_addresses'), current_setting('shared_preload_libraries')"
        ).fetchone()
        connection.execute("CREATE EXTENSION pg_stat_statements")
        connection.execute("SELECT count(*) FROM pg_stat_statements")

    assert shown == ("", "pg_stat_statements, auto_explain")


def check_refused(
    server_settings: dict[str, str], install: Install, borrow_server: MakeServer, match: str
) -> None:
    server = borrow_server(install, **server_settings)
    with pytest.raises(UserError, match=match):
        server.start()


def test_a_bad_value_is_the_users_error(any_install: Install, borrow_server: MakeServer) -> None:
    check_refused(
        {"work_mem": "much"},
        any_install,
        borrow_server,
        'work_mem = much: invalid value for parameter "work_mem"',
    )


def test_a_value_out_of_range_is_the_users_error(any_install: Install, borrow_server: MakeServer) -> None:
    check_refused(
        {"max_connections": "0"},
        any_install,
        borrow_server,
        "max_connections = 0: 0 is outside the valid range",
    )


def test_an_unknown_setting_is_the_users_error(any_install: Install, borrow_server: MakeServer) -> None:
    check_refused(
        {"no_such_setting": "1"}, any_install, borrow_server, "unrecognized configuration parameter"
    )


def test_a_setting_of_a_newer_release_is_the_users_error(install: Install, borrow_server: MakeServer) -> None:
    check_refused({"io_method": "worker"}, install, borrow_server, "io_method")


def test_a_library_that_is_not_there_is_the_users_error(
    any_install: Install, borrow_server: MakeServer
) -> None:
    check_refused(
        {"shared_preload_libraries": "no_such_library"}, any_install, borrow_server, "no_such_library"
    )


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("max_connections", "3"),
        ("shared_buffers", "900GB"),
        ("wal_level", "minimal"),
        ("ssl", "on"),
        ("timezone", "Nowhere"),
        ("session_preload_libraries", "no_such_library"),
        ("dynamic_library_path", "/nonexistent"),
    ],
)
def test_a_complaint_in_other_words_is_the_users_error_too(
    any_install: Install, borrow_server: MakeServer, name: str, value: str
) -> None:
    if any_install.major == (9, 6) and name == "wal_level":
        value = "no"  # there minimal goes with the defaults
    check_refused({name: value}, any_install, borrow_server, f"refuses the setting {name} = {value}: ")


def test_a_complaint_about_something_else_blames_no_setting() -> None:
    user = {"ssl": "off", "work_mem": "8MB", "port": "1"}

    assert blame_settings("could not open file: the port of work; memory is wasslike", user) is None


def test_for_an_unknown_name_the_nearest_is_offered(any_install: Install, borrow_server: MakeServer) -> None:
    server = borrow_server(any_install, wrok_mem="8MB")

    with pytest.raises(UserError, match="wrok_mem") as caught:
        server.start()

    assert caught.value.hint == "did you mean work_mem?"


def test_a_name_with_a_dot_that_no_library_knows_is_the_users_error(
    any_install: Install, borrow_server: MakeServer
) -> None:
    server = borrow_server(any_install, **{"pg_stat_statements.trakc_utility": "off"})

    with pytest.raises(UserError, match=r"knows the setting: pg_stat_statements\.trakc_utility") as caught:
        server.start()

    assert caught.value.hint == "did you mean pg_stat_statements.track_utility?"


def test_settings_of_a_library_that_is_loaded_are_taken(
    any_install: Install, borrow_server: MakeServer
) -> None:
    settings = {
        "session_preload_libraries": "auto_explain",
        "auto_explain.log_min_duration": "1h",
        "pg_stat_statements.track_utility": "off",
        "plpgsql.variable_conflict": "error",
    }

    with borrow_server(any_install, **settings) as server, server.connect() as connection:
        shown = connection.execute("SELECT current_setting('auto_explain.log_min_duration')").fetchone()

    assert shown == ("1h",)


def test_a_library_that_is_not_loaded_is_named(install: Install, borrow_server: MakeServer) -> None:
    server = borrow_server(install, **{"auto_explain.log_min_duration": "1h"})

    with pytest.raises(UserError) as caught:
        server.start()

    assert caught.value.hint == "does `shared_preload_libraries` load auto_explain?"


def test_a_server_may_not_be_silenced() -> None:
    with pytest.raises(UserError, match="log_min_messages = PANIC"):
        check_settings({"log_min_messages": "PANIC"})
    assert check_settings({"log_min_messages": "fatal"})
