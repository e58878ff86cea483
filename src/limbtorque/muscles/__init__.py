"""Moment arms of sets of muscles, and the sharing of joint torques among them."""
