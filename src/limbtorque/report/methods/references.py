"""The literature that the methods of a study cite."""

from __future__ import annotations

REFERENCES = {
    "anderson": "Anderson FC, Pandy MG (2001) Static and dynamic optimization solutions for gait are practically equivalent. Journal "
    "of Biomechanics 34, 153-161.",
    "challis": "Challis JH (1999) A procedure for the automatic determination of filter cutoff frequency for the processing of "
    "biomechanical data. Journal of Applied Biomechanics 15, 303-317.",
    "craven": "Craven P, Wahba G (1979) Smoothing noisy data with spline functions. Numerische Mathematik 31, 377-403.",
    "crowninshield": "Crowninshield RD, Brand RA (1981) A physiologically based criterion of muscle force prediction in locomotion. "
    "Journal of Biomechanics 14, 793-801.",
    "degroote": "De Groote F, Kinney AL, Rao AV, Fregly BJ (2016) Evaluation of direct collocation optimal control problem "
    "formulations for solving the muscle redundancy problem. Annals of Biomedical Engineering 44, 2922-2936.",
    "dempster": "Dempster WT (1955) Space requirements of the seated operator. WADC Technical Report 55-159, Wright-Patterson Air "
    "Force Base, Ohio.",
    "derrick": "Derrick TR, van den Bogert AJ, Cereatti A, Dumas R, Fantozzi S, Leardini A (2020) ISB recommendations on the "
    "reporting of intersegmental forces and moments during human motion analysis. Journal of Biomechanics 99, 109533.",
    "ehrig": "Ehrig RM, Taylor WR, Duda GN, Heller MO (2006) A survey of formal methods for determining the centre of rotation of "
    "ball joints. Journal of Biomechanics 39, 2798-2809.",
    "gloersen": "Gloersen O, Federolf P (2016) Predicting missing marker trajectories in human motion data using marker "
    "intercorrelations. PLoS ONE 11, e0152616.",
    "mantovani": "Mantovani G, Ng KCG, Lamontagne M (2016) Regression models to predict hip joint centers in pathological hip "
    "population. Gait and Posture 44, 48-54.",
    "rasmussen": "Rasmussen J, Damsgaard M, Voigt M (2001) Muscle recruitment by the min/max criterion: a comparative numerical "
    "study. Journal of Biomechanics 34, 409-415.",
    "robertson": "Robertson DGE, Dowling JJ (2003) Design and responses of Butterworth and critically damped digital filters. "
    "Journal of Electromyography and Kinesiology 13, 569-573.",
    "savitzky": "Savitzky A, Golay MJE (1964) Smoothing and differentiation of data by simplified least squares procedures. "
    "Analytical Chemistry 36, 1627-1639.",
    "winter": "Winter DA (2009) Biomechanics and Motor Control of Human Movement, 4th edition. Wiley, Hoboken.",
    "woltring": "Woltring HJ (1986) A FORTRAN package for generalized, cross-validatory spline smoothing and differentiation. "
    "Advances in Engineering Software 8, 104-113.",
    "zajac": "Zajac FE, Gordon ME (1989) Determining muscle's force and action in multi-articular movement. Exercise and Sport "
    "Sciences Reviews 17, 187-230.",
}
CITED = {
    "anderson": "Anderson and Pandy 2001",
    **{"challis": "Challis 1999", "craven": "Craven and Wahba 1979", "crowninshield": "Crowninshield and Brand 1981"},
    **{"degroote": "De Groote et al. 2016", "dempster": "Dempster 1955", "derrick": "Derrick et al. 2020"},
    **{
        "ehrig": "Ehrig et al. 2006",
        "gloersen": "Gloersen and Federolf 2016",
        "mantovani": "Mantovani et al. 2016",
        "rasmussen": "Rasmussen et al. 2001",
    },
    **{"robertson": "Robertson and Dowling 2003", "savitzky": "Savitzky and Golay 1964", "winter": "Winter 2009"},
    **{"woltring": "Woltring 1986", "zajac": "Zajac and Gordon 1989"},
}
