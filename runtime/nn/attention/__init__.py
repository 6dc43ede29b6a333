"""Attention: functions, modules, and the transformer made of them."""
