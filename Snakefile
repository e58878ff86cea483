# Another study: snakemake -s <here>/Snakefile --directory <study>
include: "workflow/Snakefile"


rule study:  # a default target in an included file has no effect: https://github.com/snakemake/snakemake/issues/2773
    default_target: True
    input:
        rules.all.input,
