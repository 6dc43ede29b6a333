"""Dropout: functions and modules."""
