"""What has to hold for an op: derivative, tangent and second derivative."""
