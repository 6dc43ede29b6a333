"""From a table to the files of a generated package."""
