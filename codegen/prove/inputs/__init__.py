"""The calls that a proof makes: sizes, options, layouts, kinks, corners."""
