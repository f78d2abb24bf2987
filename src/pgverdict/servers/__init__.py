"""Obtain a build of PostgreSQL, run a cluster on it, and leave nothing behind.

The only place that knows that PostgreSQL releases differ, and the only one that starts servers. It
knows nothing of workloads, rounds or numbers. Nothing is imported here: the supervisor's process imports
this package with the standard library alone, and starts in milliseconds. The public names, by file:

    home        Home.find(), .ensure(account), .cache .data .downloads .installs .templates .runs
    marked      mark(directory), remove_tree(directory): only ever deletes what is marked as ours
    account     Account, server_account(): who servers run as
    release     Release, known_releases(home), find_release(spelling, home)
    fetch       fetch(release, home, progress) -> Jar: downloaded and checked
    obtain      obtain(spelling, home, copy=1) -> Install, by what the spelling means:
    install     Install; obtain_published(release, home): ready-made; list_installed(home), list_releases(home)
    found       find_installed(), obtain_installed(asked, home): what somebody installed on this host
    build       obtain_built(asked, home), list_built(home): from source, by the recipe
    source      find_source(asked, home), unpack_source(found, into)
    recipe      recipe(major, wish, jobs) -> Recipe: the commands of a build
    cluster     create_cluster(install, data, account, settings)
    facts       ask_build(connection), ask_cluster(connection): what they were made with, by stable names
    inspection  inspect(install, home, ...) -> Inspection: a build's facts, settings and defaults, asked once
    settings    check_settings(user), render_settings(user, ...): what goes into pgverdict.conf
    server      Server(install, data, socket_directory, ...): start, stop, pids, connect, log_tail, log_end
    log         Log(path): tail, end; what a server wrote since its latest start
    layout      laid_out(layout), padding(layout), loader_of(program): memory where a plan wants it; obstacle
    complaint   complaint_in(log): what a server that failed said
    stale_locks clear_stale_locks(data, ...): of servers that are gone
    stay        Stay(dsn): a run's session on a server that somebody else runs, and databases of ours there
    suitable    require_usable(connection, dsn): whether such a server can be measured on
    outside     OutsideServer(stay, names): such a server in a round
    containers  run_image(image, settings, ...) -> Container: the server of an image, once for a run
    refusal     refused(doing): what such a server refuses, as an error with a hint
    control     read_control(data) -> Control, trim_wal(data)
    known       Known(install, account): which settings there are
    processes   running_in(directory), end_all(directories)
    cgroups     Cgroup; thaw_around(pids), made_for(directory): cgroups of ours, also those of a killed run
    confine     find_confiner(limits) -> Confiner: the memory and the cores that servers are born with
    freeze      choose_means(wish) -> Means, make_freezer(means, server): freeze() and thaw()
    supervisor  Supervisor: stops what runs in given directories when this process ends
    workspace   Workspace.create(home, account): a run's own directories; sweep(home)
    sockets     make_sockets(account), socket_path(directory, port)
    scratch     scratch(prefix, parent), remove_at_once(path): what is half done or half deleted is swept after a kill
    interruption install(), shield(), heed(): Ctrl-C and termination signals, and what they must not cut in two
    space       require_space(path, bytes_needed, what)

From nothing to an answer:

    account, home = server_account(), Home.find()
    home.ensure(account)
    install = obtain("17", home)
    with Workspace.create(home, account) as workspace:
        data = workspace.path / "baseline"
        create_cluster(install, data, account)
        server = Server(install, data, workspace.socket_directory("baseline"), {"jit": "off"}, account)
        with server:
            server.connect().execute("select 1")
"""
