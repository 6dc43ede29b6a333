"""Batching rules: found by trial, proved on symbols, and compared in every mode with numbers."""
