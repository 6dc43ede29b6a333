"""The identities of an op: kernel, derivative, tangent and second derivative."""
