"""Torque terms of recorded movements by planar inverse dynamics.

`import limbtorque as lt` gives every public name: `lt.read_recording`, `lt.analyse_recording`, `lt.Chain`, `lt.torque_terms` ...
A name is imported from its room when it is first used, so that the import itself takes a millisecond.
"""

__version__ = "0.1.0"

# Public names by the module they come from; __init__.pyi says the same to type checkers.
HOMES = {
    "analysis.study": "Study load_study",
    "analysis.trial": "TrialResult analyse_recording",
    "chain": "AccelerationParts Chain Ellipse InducedAccelerations InteractionTorques JointMotion JointWrenches Kinematics Load MotionDependentTorques Point PowerBalance PreparedChain RigidChainFit SegmentEnergies SegmentTerms TorqueTerms TwoLinkAngles acceleration_parts fit_rigid_chain forward_dynamics induced_accelerations inertia_matrix interaction_torques internal_angles jacobian jacobian_rate joint_angles joint_motion joint_positions manipulability motion_dependent_torques newton_euler null_space_projector pairs point_acceleration point_jerk point_position point_velocity power_balance segment_angles segment_energies segment_terms segment_torques torque_terms two_link_angles velocity_ellipse",
    "chain.body_segments": "segment_chain",
    "chain.segment_tables": "DEMPSTER_WINTER segment_table",
    "errors": "LandmarkError LimbtorqueError LoadError ReadError SegmentError SettingsError SignalError StudyError TrialError",
    "figures.palette": "TERM_COLOURS",
    "figures.style": "paper_figure paper_style save_figure",
    "figures.terms": "TERM_NAMES",
    "figures.trial_figures": "draw_limb draw_torque_terms",
    "motion.limb": "Limb",
    "muscles.hill": "excitation_for_rate",
    "muscles.moment_arms": "musculotendon",
    "muscles.sets.muscle_set": "MuscleSet load_muscle_set",
    "muscles.static_optimization.prepared": "PreparedMuscles",
    "muscles.static_optimization.solve": "StaticOptimization share_torques",
    "recordings.options": "ReadOptions",
    "recordings.read": "read_recording",
    "recordings.recording": "Recording with_static",
    "recordings.writers.recordings": "write_recording",
    "signals.filters": "low_pass",
    "signals.derivatives": "differentiate",
    "simulation": "AttachedLoad Drive Integration MinimumJerk MuscleState Musculature Simulation State minimum_jerk muscle_drive muscle_state pid simulate",
    "study.settings": "Settings load_settings make_settings",
    "tables.files": "read_table",
}


def __getattr__(name: str) -> object:
    """Import a public name from its module, once."""
    for home, names in HOMES.items():
        if name in names.split():
            value = getattr(__import__(f"limbtorque.{home}", fromlist=[name]), name)
            globals()[name] = value
            return value
    raise AttributeError(f"module 'limbtorque' has no attribute {name!r}")


def __dir__() -> list[str]:
    """Return all public names."""
    return sorted([*" ".join(HOMES.values()).split(), "__version__"])
