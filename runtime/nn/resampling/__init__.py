"""Resampling: functions and modules."""
