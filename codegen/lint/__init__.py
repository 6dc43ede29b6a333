"""Sweeps of elementwise ops against 50 digits, and formulas that lose fewer: `gradspec lint`."""
