"""Why a joint torque is what it is: planar inverse dynamics of recorded limbs, term by term."""

__version__ = "0.1.0"
