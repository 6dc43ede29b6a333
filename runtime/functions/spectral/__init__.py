"""Windows, and Fourier transforms of the pieces of a signal that they cut out."""
