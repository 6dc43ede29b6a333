"""Pooling and windows: functions and modules."""
