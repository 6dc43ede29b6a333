"""Writes into tensors, and into the views and bases that share their memory."""
