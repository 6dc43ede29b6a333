"""Activations: functions and modules."""
