"""Recurrent networks of several layers: their functions and modules."""
