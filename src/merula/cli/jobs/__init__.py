"""What commands do: each job takes what was asked and gives plain results; it loads the library, the commands do not."""
