"""Electromyography: envelopes, channel faults, onsets, co-contraction, agreement.

In: analog channels of a recording.
Out: normalised envelopes, activity, and their agreement with predicted activations.
Not here: files of channels, prediction of activations.
"""
