"""Colours of figures and pages, and their names for captions: one list for both."""

from __future__ import annotations

# Okabe and Ito (2008): told apart with every kind of colour vision. One colour means the same term in every figure.
TERM_COLOURS = {
    "inertial": "#0072B2",
    "centripetal": "#D55E00",
    "coriolis": "#CC79A7",
    "gravity": "#009E73",
    "base": "#E69F00",
    "external": "#56B4E9",
}
# Tol (2021), muted: joints, muscles and conditions have colours that no term has.
LINE_COLOURS = ("#332288", "#117733", "#882255", "#999933", "#AA4499", "#44AA99", "#CC6677", "#661100", "#6699CC")
COLOUR_NAMES = {
    "#0072B2": "blue",
    "#D55E00": "vermilion",
    "#CC79A7": "pink",
    "#009E73": "bluish green",
    "#E69F00": "orange",
    "#56B4E9": "sky blue",
    "#332288": "indigo",
    "#117733": "green",
    "#882255": "wine",
    "#999933": "olive",
    "#AA4499": "purple",
    "#44AA99": "teal",
    "#CC6677": "rose",
    "#661100": "brown",
    "#6699CC": "steel blue",
}
GENERATED, ABSORBED = LINE_COLOURS[5], LINE_COLOURS[6]  # power
RESIDUAL, CHOSEN, CRITERION = LINE_COLOURS[0], LINE_COLOURS[2], LINE_COLOURS[1]  # of the figure of the cut-off
STATUS_COLOURS = {"ok": "#E8F1EC", "caution": "#D9A441", "rejected": "#C4501B", "failed": "#A03050"}
STATUS_NAMES = {"ok": "pale green", "caution": "amber", "rejected": "brick", "failed": "dark red"}
EDGE, UNKNOWN = "0.92", "#F6D5C3"  # shaded frames
SHADE_NAMES = {EDGE: "grey", UNKNOWN: "peach"}
