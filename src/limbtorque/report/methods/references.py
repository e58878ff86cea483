"""Literature cited in the methods of a study."""

from __future__ import annotations

REFERENCES = {
    "anderson": "Anderson FC, Pandy MG (2001) Static and dynamic optimization solutions for gait are practically equivalent. Journal "
    "of Biomechanics 34, 153-161.",
    "anderson_thesis": "Anderson FC (1999) A dynamic optimization solution for a complete cycle of normal gait. PhD thesis, "
    "University of Texas at Austin.",
    "bell": "Bell AL, Pedersen DR, Brand RA (1990) A comparison of the accuracy of several hip center location prediction methods. "
    "Journal of Biomechanics 23, 617-621.",
    "bonato": "Bonato P, D'Alessio T, Knaflitz M (1998) A statistical method for the measurement of muscle activation intervals from surface "
    "myoelectric signal during gait. IEEE Transactions on Biomedical Engineering 45, 287-299.",
    "cappozzo": "Cappozzo A, Catani F, Della Croce U, Leardini A (1995) Position and orientation in space of bones during movement: "
    "anatomical frame definition and determination. Clinical Biomechanics 10, 171-178.",
    "challis": "Challis JH (1999) A procedure for the automatic determination of filter cutoff frequency for the processing of "
    "biomechanical data. Journal of Applied Biomechanics 15, 303-317.",
    "craven": "Craven P, Wahba G (1979) Smoothing noisy data with spline functions. Numerische Mathematik 31, 377-403.",
    "crawford": "Crawford JR, Howell DC (1998) Comparing an individual's test score against norms derived from small samples. The Clinical "
    "Neuropsychologist 12, 482-486.",
    "crowninshield": "Crowninshield RD, Brand RA (1981) A physiologically based criterion of muscle force prediction in locomotion. "
    "Journal of Biomechanics 14, 793-801.",
    "davis": "Davis RB, Ounpuu S, Tyburski D, Gage JR (1991) A gait analysis data collection and reduction technique. Human Movement "
    "Science 10, 575-587.",
    "degroote": "De Groote F, Kinney AL, Rao AV, Fregly BJ (2016) Evaluation of direct collocation optimal control problem "
    "formulations for solving the muscle redundancy problem. Annals of Biomedical Engineering 44, 2922-2936.",
    "deleva": "de Leva P (1996) Adjustments to Zatsiorsky-Seluyanov's segment inertia parameters. Journal of Biomechanics 29, "
    "1223-1230.",
    "deluca": "De Luca CJ, Gilmore LD, Kuznetsov M, Roy SH (2010) Filtering the surface EMG signal: movement artifact and baseline noise "
    "contamination. Journal of Biomechanics 43, 1573-1579.",
    "dellacroce": "Della Croce U, Leardini A, Chiari L, Cappozzo A (2005) Human movement analysis using stereophotogrammetry. Part 4: "
    "assessment of anatomical landmark misplacement and its effects on joint kinematics. Gait and Posture 21, 226-237.",
    "dempster": "Dempster WT (1955) Space requirements of the seated operator. WADC Technical Report 55-159, Wright-Patterson Air "
    "Force Base, Ohio.",
    "derrick": "Derrick TR, van den Bogert AJ, Cereatti A, Dumas R, Fantozzi S, Leardini A (2020) ISB recommendations on the "
    "reporting of intersegmental forces and moments during human motion analysis. Journal of Biomechanics 99, 109533.",
    "ehrig": "Ehrig RM, Taylor WR, Duda GN, Heller MO (2006) A survey of formal methods for determining the centre of rotation of "
    "ball joints. Journal of Biomechanics 39, 2798-2809.",
    "exell": "Exell T, Kerwin D, Irwin G, Gittoes M (2011) Calculating centre of pressure from multiple force plates for kinetic "
    "analyses of sprint running. Proceedings of the 29th Conference of the International Society of Biomechanics in Sports, Porto.",
    "falconer": "Falconer K, Winter DA (1985) Quantitative assessment of co-contraction at the ankle joint in walking. "
    "Electromyography and Clinical Neurophysiology 25, 135-149.",
    "gloersen": "Gloersen O, Federolf P (2016) Predicting missing marker trajectories in human motion data using marker "
    "intercorrelations. PLoS ONE 11, e0152616.",
    "harrington": "Harrington ME, Zavatsky AB, Lawson SEM, Yuan Z, Theologis TN (2007) Prediction of the hip joint centre in adults, "
    "children, and patients with cerebral palsy based on magnetic resonance imaging. Journal of Biomechanics 40, 595-602.",
    "hicks": "Hicks JL, Richards JG (2005) Clinical applicability of using spherical fitting to find hip joint centers. Gait and "
    "Posture 22, 138-145.",
    "hodges": "Hodges PW, Bui BH (1996) A comparison of computer-based methods for the determination of onset of muscle contraction "
    "using electromyography. Electroencephalography and Clinical Neurophysiology 101, 511-519.",
    "lenhoff": "Lenhoff MW, Santner TJ, Otis JC, Peterson MGE, Williams BJ, Backus SI (1999) Bootstrap prediction and confidence bands: a "
    "superior statistical method for analysis of gait data. Gait and Posture 9, 10-17.",
    "mantovani": "Mantovani G, Ng KCG, Lamontagne M (2016) Regression models to predict hip joint centers in pathological hip "
    "population. Gait and Posture 44, 48-54.",
    "needham": "Needham L, Evans M, Cosker DP, Wade L, McGuigan PM, Bilzon JL, Colyer SL (2021) The accuracy of several pose "
    "estimation methods for 3D joint centre localisation. Scientific Reports 11, 20673.",
    "oconnor": "O'Connor CM, Thorpe SK, O'Malley MJ, Vaughan CL (2007) Automatic detection of gait events using kinematic data. "
    "Gait and Posture 25, 469-474.",
    "pizzolato": "Pizzolato C, Lloyd DG, Sartori M, Ceseracciu E, Besier TF, Fregly BJ, Reggiani M (2015) CEINMS: a toolbox to "
    "investigate the influence of different neural control solutions on the prediction of muscle excitation and joint moments during "
    "dynamic motor tasks. Journal of Biomechanics 48, 3929-3936.",
    "rab": "Rab G, Petuskey K, Bagley A (2002) A method for determination of upper extremity kinematics. Gait and Posture 15, 113-119.",
    "rasmussen": "Rasmussen J, Damsgaard M, Voigt M (2001) Muscle recruitment by the min/max criterion: a comparative numerical "
    "study. Journal of Biomechanics 34, 409-415.",
    "riener": "Riener R, Edrich T (1999) Identification of passive elastic joint moments in the lower extremities. Journal of "
    "Biomechanics 32, 539-544.",
    "robertson": "Robertson DGE, Dowling JJ (2003) Design and responses of Butterworth and critically damped digital filters. "
    "Journal of Electromyography and Kinesiology 13, 569-573.",
    "rossi": "Rossi M, Lyttle A, El-Sallam A, Benjanuvatra N, Blanksby B (2013) Body segment inertial parameters of elite swimmers "
    "using DXA and indirect methods. Journal of Sports Science and Medicine 12, 761-775.",
    "rudolph": "Rudolph KS, Axe MJ, Snyder-Mackler L (2000) Dynamic stability after ACL injury: who can hop? Knee Surgery, Sports "
    "Traumatology, Arthroscopy 8, 262-269.",
    "winter": "Winter DA (2009) Biomechanics and Motor Control of Human Movement, 4th edition. Wiley, Hoboken.",
    "woltring": "Woltring HJ (1986) A FORTRAN package for generalized, cross-validatory spline smoothing and differentiation. "
    "Advances in Engineering Software 8, 104-113.",
    "zajac": "Zajac FE, Gordon ME (1989) Determining muscle's force and action in multi-articular movement. Exercise and Sport "
    "Sciences Reviews 17, 187-230.",
    "zeni": "Zeni JA, Richards JG, Higginson JS (2008) Two simple methods for determining gait events during treadmill and "
    "overground walking using kinematic data. Gait and Posture 27, 710-714.",
    "zatsiorsky": "Zatsiorsky VM, Seluyanov VN, Chugunova LG (1990) Methods of determining mass-inertial characteristics of human "
    "body segments. In: Contemporary Problems of Biomechanics. CRC Press, Boca Raton, 272-291.",
}


def cited(name: str) -> str:
    """Authors and year of a reference, as a sentence cites it.

    Examples
    --------
    >>> cited("anderson"), cited("deleva"), cited("degroote")
    ('Anderson and Pandy 2001', 'de Leva 1996', 'De Groote et al. 2016')
    """
    authors, _, rest = REFERENCES[name].partition(" (")
    names = [author.rpartition(" ")[0] for author in authors.split(", ")]  # without initials
    return f"{' and '.join(names) if len(names) < 3 else f'{names[0]} et al.'} {rest[:4]}"
