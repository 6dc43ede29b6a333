"""From YAML text to frozen `OpSpec` values, or to a list of located diagnostics."""
