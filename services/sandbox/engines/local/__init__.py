"""The local engine: a process of this machine, watched by a small supervisor that outlives the screens."""
