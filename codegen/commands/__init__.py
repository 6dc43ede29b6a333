"""The commands of `gradspec`: one file a command."""
