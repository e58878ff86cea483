"""Ground contact: force plates, centre of pressure, foot strikes and foot offs.

In: the joint centres of a limb, and the force plates of its recording.
Out: `ExternalLoad`: force and couple at the last joint, what is known of them, and events.
Not here: torques, thresholds of the verdict.
"""
