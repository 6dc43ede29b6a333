"""The playground: a page on this machine where an entry is edited, and proved or refuted."""
