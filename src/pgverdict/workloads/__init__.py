"""The catalogue: which workloads there are, their scripts and SQL, their datasets. Files and values only."""
