"""Compiled functions: a program is captured once, optimised, and run in place of the ops."""
