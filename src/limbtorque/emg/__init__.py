"""Electromyography: envelopes, channel faults, onsets, co-contraction, agreement.

In: analog channels of a recording.
Out: normalised envelopes, activity, and their agreement with predicted activations.
Not here: which file a channel is in, how activations are predicted.
"""
