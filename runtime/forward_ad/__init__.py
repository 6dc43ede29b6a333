"""Forward mode: dual tensors, and the tangents that ops compute beside their results."""
