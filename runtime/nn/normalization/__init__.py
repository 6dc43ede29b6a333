"""Normalisation: functions and modules."""
