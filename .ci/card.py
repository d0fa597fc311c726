"""The picture that other sites show beside a link to this one: `python .ci/card.py` draws
nbs/card.png, 1200 x 630."""
from pathlib import Path
import matplotlib
matplotlib.use("agg")
import matplotlib.pyplot as plt
import numpy as np
from boostlit import QuadraticBoostClassifier
from boostlit.core.plots import PALETTE, use_style

ROOT = Path(__file__).resolve().parents[1]


def draw():
    use_style()
    rng = np.random.default_rng(0)
    X = rng.uniform(-1, 1, (260, 2))
    y = X[:, 0]*X[:, 1] > 0
    model = QuadraticBoostClassifier(n_estimators=10, random_state=0).fit(X, y)
    fig = plt.figure(figsize=(12, 6.3), dpi=100, facecolor="white", layout="none")
    ax = fig.add_axes((.54, .12, .4, .76))
    at = np.linspace(-1, 1, 120)
    grid = np.stack(np.meshgrid(at, at), -1).reshape(-1, 2)
    ax.pcolormesh(at, at, model.decision_function(grid).reshape(120, 120) > 0, alpha=.25,
                  cmap=matplotlib.colors.ListedColormap(PALETTE[:2]), shading="nearest")
    for k, marker in enumerate("o^"):
        ax.plot(*X[y == k].T, marker, ms=7, color=PALETTE[k])
    ax.set_axis_off()
    fig.text(.06, .6, "boostlit", fontsize=64, fontweight="bold", color="#1b1f23")
    fig.text(.062, .36, "Five boosting papers\nas working code", fontsize=30, color="#1b1f23",
             linespacing=1.3)
    fig.savefig(ROOT/"nbs"/"card.png", transparent=False, facecolor="white")


if __name__ == "__main__":
    draw()
