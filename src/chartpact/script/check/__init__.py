"""What a script may say: its syntax, its names, and what PARAMS, META and compute declare."""
