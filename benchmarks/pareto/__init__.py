"""Fronts of several outcomes: one shot, replays of the loop, speed."""
