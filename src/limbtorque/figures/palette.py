"""Colours of figures and pages, with their names for captions."""

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
STATUS_COLOURS = {"ok": "#8CB9A0", "caution": "#D9A441", "rejected": "#C4501B", "failed": "#A03050"}
WASH, SHADE = 0.2, 0.22  # strength of a status behind text, and of shaded frames
NO_TORQUE = "#D64000"  # whatever the reason
FRAMES = {  # kinds of shaded frames: colour, column of their status and its value, legend
    "edge": ("#A4A4A4", "edge", 1, "affected by filter edge effects: less certain"),
    "spike": ("#EE3377", "spike", 1, "spike or jump of a marker, not filled"),
    "swapped": ("#AA4499", "swapped", 1, "markers exchanged"),
    "filled": ("#56B4E9", "filled", 1, "gap in a marker filled"),
    "foreshortened": (NO_TORQUE, "foreshortened", 1, "segment out of the plane: no torques"),
    "external_unknown": (
        *(NO_TORQUE, "external_status", 2),
        "ground contact (or up to 0.06 s after it) with unknown force: no torques",
    ),
    "moment_arm": ("#DDAA33", "moment_arm_status", 1, "outside the range of a moment arm"),
    "fibre": ("#BB5566", "fibre_status", 1, "outside the range of a fibre's curves"),
    "beyond_muscles": (
        *("#AA3377", "optimization_status", 1),
        "torque beyond the muscles' strength, or moment arms unknown",
    ),
    "not_certified": ("#661100", "optimization_status", 3, "muscle forces without an optimality certificate"),
}
ACTIVE = "#DDAA33"  # bar of a muscle's activity


def tint(colour: str, share: float) -> str:
    """Colour mixed with white, `share` of the colour.

    >>> tint("#A4A4A4", 0.22)
    '#EBEBEB'
    """
    parts = (int(colour[k : k + 2], 16) for k in (1, 3, 5))
    return "#" + "".join(f"{round(255.0 - share * (255.0 - part)):02X}" for part in parts)


EDGE, UNKNOWN = (tint(colour, SHADE) for colour in (FRAMES["edge"][0], NO_TORQUE))
SHADE_NAMES = {EDGE: "grey", UNKNOWN: "peach"}
