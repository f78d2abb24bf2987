"""What is measured about the product itself: `./x bench NAME ARGS` runs bench.NAME. Nothing here is shipped."""
