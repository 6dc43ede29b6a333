"""Tests for zero."""
