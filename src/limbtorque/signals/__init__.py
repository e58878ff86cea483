"""Signals: arrays with time along axis 0 in, arrays of the same shape out. Gaps, smoothing, cut-offs, derivatives."""
