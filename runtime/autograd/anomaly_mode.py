"""Anomaly mode under the name of PyTorch's module: `autograd.anomaly_mode.detect_anomaly`."""

from ..graph.anomaly import detect_anomaly, set_detect_anomaly

__all__ = ["detect_anomaly", "set_detect_anomaly"]
