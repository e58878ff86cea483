from .analysis.results import (
    Results as Results,
)
from .analysis.results import (
    open_results as open_results,
)
from .analysis.study import (
    Study as Study,
)
from .analysis.study import (
    load_study as load_study,
)
from .analysis.trial import (
    TrialResult as TrialResult,
)
from .analysis.trial import (
    analyse_recording as analyse_recording,
)
from .chain.body_segments import segment_chain as segment_chain
from .chain.conventions import (
    InteractionTorques as InteractionTorques,
)
from .chain.conventions import (
    MotionDependentTorques as MotionDependentTorques,
)
from .chain.conventions import (
    SegmentTerms as SegmentTerms,
)
from .chain.conventions import (
    interaction_torques as interaction_torques,
)
from .chain.conventions import (
    internal_angles as internal_angles,
)
from .chain.conventions import (
    joint_angles as joint_angles,
)
from .chain.conventions import (
    motion_dependent_torques as motion_dependent_torques,
)
from .chain.conventions import (
    segment_angles as segment_angles,
)
from .chain.conventions import (
    segment_terms as segment_terms,
)
from .chain.conventions import (
    segment_torques as segment_torques,
)
from .chain.dynamics import (
    JointWrenches as JointWrenches,
)
from .chain.dynamics import (
    TorqueTerms as TorqueTerms,
)
from .chain.dynamics import (
    inertia_matrix as inertia_matrix,
)
from .chain.dynamics import (
    newton_euler as newton_euler,
)
from .chain.dynamics import (
    torque_terms as torque_terms,
)
from .chain.energy import (
    PowerBalance as PowerBalance,
)
from .chain.energy import (
    SegmentEnergies as SegmentEnergies,
)
from .chain.energy import (
    power_balance as power_balance,
)
from .chain.energy import (
    segment_energies as segment_energies,
)
from .chain.forward import (
    InducedAccelerations as InducedAccelerations,
)
from .chain.forward import (
    forward_dynamics as forward_dynamics,
)
from .chain.forward import (
    induced_accelerations as induced_accelerations,
)
from .chain.inverse import (
    JointMotion as JointMotion,
)
from .chain.inverse import (
    RigidChainFit as RigidChainFit,
)
from .chain.inverse import (
    TwoLinkAngles as TwoLinkAngles,
)
from .chain.inverse import (
    fit_rigid_chain as fit_rigid_chain,
)
from .chain.inverse import (
    joint_motion as joint_motion,
)
from .chain.inverse import (
    two_link_angles as two_link_angles,
)
from .chain.kinematics import (
    AccelerationParts as AccelerationParts,
)
from .chain.kinematics import (
    Ellipse as Ellipse,
)
from .chain.kinematics import (
    acceleration_parts as acceleration_parts,
)
from .chain.kinematics import (
    jacobian as jacobian,
)
from .chain.kinematics import (
    jacobian_rate as jacobian_rate,
)
from .chain.kinematics import (
    joint_positions as joint_positions,
)
from .chain.kinematics import (
    manipulability as manipulability,
)
from .chain.kinematics import (
    null_space_projector as null_space_projector,
)
from .chain.kinematics import (
    point_acceleration as point_acceleration,
)
from .chain.kinematics import (
    point_jerk as point_jerk,
)
from .chain.kinematics import (
    point_position as point_position,
)
from .chain.kinematics import (
    point_velocity as point_velocity,
)
from .chain.kinematics import (
    velocity_ellipse as velocity_ellipse,
)
from .chain.model import (
    Chain as Chain,
)
from .chain.model import (
    Kinematics as Kinematics,
)
from .chain.model import (
    Load as Load,
)
from .chain.model import (
    Point as Point,
)
from .chain.model import (
    pairs as pairs,
)
from .chain.prepared import (
    PreparedChain as PreparedChain,
)
from .chain.segments import DEMPSTER_WINTER as DEMPSTER_WINTER
from .chain.segments import segment_table as segment_table
from .errors import (
    LandmarkError as LandmarkError,
)
from .errors import (
    LimbtorqueError as LimbtorqueError,
)
from .errors import (
    LoadError as LoadError,
)
from .errors import (
    ReadError as ReadError,
)
from .errors import (
    SegmentError as SegmentError,
)
from .errors import (
    SettingsError as SettingsError,
)
from .errors import (
    SignalError as SignalError,
)
from .errors import (
    StudyError as StudyError,
)
from .errors import (
    TrialError as TrialError,
)
from .figures.palette import (
    TERM_COLOURS as TERM_COLOURS,
)
from .figures.style import (
    paper_figure as paper_figure,
)
from .figures.style import (
    paper_style as paper_style,
)
from .figures.style import (
    save_figure as save_figure,
)
from .figures.terms import (
    TERM_NAMES as TERM_NAMES,
)
from .figures.trial_figures import (
    draw_limb as draw_limb,
)
from .figures.trial_figures import (
    draw_torque_terms as draw_torque_terms,
)
from .motion.limb import (
    Limb as Limb,
)
from .muscles.hill import (
    excitation_for_rate as excitation_for_rate,
)
from .muscles.moment_arms import (
    musculotendon as musculotendon,
)
from .muscles.sets.muscle_set import (
    MuscleSet as MuscleSet,
)
from .muscles.sets.muscle_set import (
    load_muscle_set as load_muscle_set,
)
from .muscles.static_optimization.solve import (
    StaticOptimization as StaticOptimization,
)
from .muscles.static_optimization.solve import (
    share_torques as share_torques,
)
from .recordings.options import (
    ReadOptions as ReadOptions,
)
from .recordings.read import (
    read_recording as read_recording,
)
from .recordings.recording import (
    Recording as Recording,
)
from .recordings.recording import (
    with_static as with_static,
)
from .recordings.writers import (
    write_recording as write_recording,
)
from .recordings.writers import (
    write_sto as write_sto,
)
from .signals.derivatives import (
    differentiate as differentiate,
)
from .signals.filters import (
    low_pass as low_pass,
)
from .simulation.forward import (
    AttachedLoad as AttachedLoad,
)
from .simulation.forward import (
    Drive as Drive,
)
from .simulation.forward import (
    Integration as Integration,
)
from .simulation.forward import (
    Simulation as Simulation,
)
from .simulation.forward import (
    State as State,
)
from .simulation.forward import (
    pid as pid,
)
from .simulation.forward import (
    simulate as simulate,
)
from .simulation.muscle_driven import (
    MuscleState as MuscleState,
)
from .simulation.muscle_driven import (
    Musculature as Musculature,
)
from .simulation.muscle_driven import (
    muscle_drive as muscle_drive,
)
from .simulation.muscle_driven import (
    muscle_state as muscle_state,
)
from .simulation.reach import (
    MinimumJerk as MinimumJerk,
)
from .simulation.reach import (
    minimum_jerk as minimum_jerk,
)
from .study.settings import (
    Settings as Settings,
)
from .study.settings import (
    load_settings as load_settings,
)
from .study.settings import (
    make_settings as make_settings,
)
from .tables.files import (
    read_table as read_table,
)

__version__: str
