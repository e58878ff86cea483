# What is computed stands in the study's config/config.yaml, config/trials.csv and config/subjects.csv.
# Another study: snakemake -s <here>/Snakefile --directory <study>
include: "workflow/rules/study.smk"
include: "workflow/rules/trials.smk"
include: "workflow/rules/ensembles.smk"
include: "workflow/rules/collect.smk"
include: "workflow/rules/study_figures.smk"
include: "workflow/rules/report.smk"


rule all:
    input:
        TARGETS,
        ENSEMBLE_FILES,
        STUDY_FIGURES,
        rules.collect.output,
        rules.verdict.output,
        rules.report.output if STUDY.settings.report.enabled else [],
