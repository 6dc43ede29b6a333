"""Emitted code of a framework against exact values, at the witnesses of the proof."""
