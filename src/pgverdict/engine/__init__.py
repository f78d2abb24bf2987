"""The load engine as an object. The only place that starts it and that knows the seam (engine/PROTOCOL.md)."""
