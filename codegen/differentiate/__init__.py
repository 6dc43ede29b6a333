"""Derivatives of formulas, found by differentiating them through the rules of the ops they call."""
