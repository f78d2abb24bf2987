"""The loaded data of a workload at one size: made once as templates, copied for use."""
