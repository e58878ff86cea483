"""Keypoints as JSON: one file for each frame, or one file for all.

In: JSON files of OpenPose, AlphaPose, MMPose and the like.
Out: their contents as a `Recording`.
Not here: pose estimation, images, triangulation.
"""
