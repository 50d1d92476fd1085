# SPDX-License-Identifier: Apache-2.0
"""Time against energy of gemm 1024^3 f16 on default.yaml, by Optuna's NSGA-II with a seed.

Every PE reads all of B. Fewer PEs take longer, and less energy for reading it.
"""
import optuna

from points import Points, optimise


def options(trial):
    return {"pes": trial.suggest_categorical("pes", ["all", "leaders"]), "ranks": trial.suggest_int("ranks", 1, 2),
            "param.tile_m": 2 ** trial.suggest_int("log2 tile_m", 1, 6),
            "param.tile_n": 2 ** trial.suggest_int("log2 tile_n", 5, 10),
            "param.tile_k": 2 ** trial.suggest_int("log2 tile_k", 5, 10)}


def main():
    optuna.logging.set_verbosity(optuna.logging.WARNING)
    study = optuna.create_study(directions=["minimize", "minimize"],
                                sampler=optuna.samplers.NSGAIISampler(population_size=12, seed=1))
    with Points("run", "--topology", "default.yaml", "--kernel", "gemm", "--energy", "n7.yaml", "--param", "m=1024",
                "--param", "n=1024", "--param", "k=1024", "--param", "dtype=f16") as points:
        optimise(study, points, options, ["sim_ns", "energy_j"], trials=60)
    print("   ns     uJ  pes      ranks  tiles")
    front = {tuple(t.values): t for t in study.best_trials}
    for (ns, joules), trial in sorted(front.items()):
        p = trial.params
        print(f"{ns:6.0f} {1e6 * joules:6.0f}  {p['pes']:8} {p['ranks']:5}  "
              + " x ".join(str(2 ** p[f'log2 tile_{axis}']) for axis in "mnk"))


if __name__ == "__main__":
    main()
