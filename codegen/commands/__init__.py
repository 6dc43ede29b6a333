"""The commands of `gradspec`, a file for each."""
