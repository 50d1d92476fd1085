# SPDX-License-Identifier: Apache-2.0
"""The best tiles of gemm 4096^3 f16 on default.yaml, by Optuna's TPE sampler with a seed.

Every PE has 16 rows and computes them alone, so the search is done on one PE with its 16 rows; what is found is then run
on the whole machine.
"""
import optuna

from points import Points, optimise

WHOLE = {"param.m": 4096}
ONE_PE = {"param.m": 16, "pes": "sip0.cube0.pe0"}


def tiles(trial):
    return {"param.tile_m": 2 ** trial.suggest_int("log2 tile_m", 1, 4),
            "param.tile_n": 2 ** trial.suggest_int("log2 tile_n", 5, 11),
            "param.tile_k": 2 ** trial.suggest_int("log2 tile_k", 5, 11)}


def main():
    optuna.logging.set_verbosity(optuna.logging.WARNING)
    study = optuna.create_study(sampler=optuna.samplers.TPESampler(seed=1))
    with Points("run", "--topology", "default.yaml", "--kernel", "gemm", "--param", "n=4096", "--param", "k=4096",
                "--param", "dtype=f16") as points:
        optimise(study, points, lambda trial: {**tiles(trial), **ONE_PE}, ["sim_ns"], trials=40)
        best = tiles(optuna.trial.FixedTrial(study.best_params))
        (whole,) = points.answers([{**best, **WHOLE}])
    print(*(f"{name[len('param.'):]} {value}" for name, value in best.items()), sep=", ")
    print(f"one PE: {study.best_value:.0f} ns, the whole machine: {whole['metrics']['sim_ns']:.0f} ns")


if __name__ == "__main__":
    main()
