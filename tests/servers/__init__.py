"""Real servers, a real archive, real signals; the repository is played by a directory or a loopback server."""
