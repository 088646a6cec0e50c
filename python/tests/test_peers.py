"""Plain Bradley-Terry scores equal those of other packages: evalica (Newman's iteration), choix (I-LSR and MM)."""

import choix
import evalica
import numpy as np
import pandas
import pytest

import hodgerank

TOLERANCE = 1e-6


def simulated(seed):
    """Returns votes of noisy annotators on 12 items, without ties, in which every pair was compared."""
    study = hodgerank.simulate(items=12, votes=2000, noise="bradley-terry", seed=seed)
    table = study.to_pandas().astype(str)
    is_left = table["winner"] == "left"
    winner = table["left"].where(is_left, table["right"])
    loser = table["right"].where(is_left, table["left"])
    return list(zip(winner, loser))


def is_strongly_connected(votes):
    """Whether wins lead from every item to every other one: only then the scores are finite."""
    items = sorted({item for vote in votes for item in vote})
    place = {item: k for k, item in enumerate(items)}
    reach = np.eye(len(items), dtype=bool)
    for winner, loser in votes:
        reach[place[winner], place[loser]] = True
    for _ in items:
        reach |= reach @ reach
    return reach.all()


def centred(scores):
    return scores - scores.mean()


def own_scores(votes):
    """Returns the scores of bt without lapses and prior, by item."""
    ranking = hodgerank.rank(votes, method="bt", lapse_rate=0, prior=0)
    assert ranking.status == "solved"
    assert ranking.method["lapse_rate"] == ranking.method["prior"] == 0
    return centred(pandas.Series(ranking.scores, index=ranking.items).sort_index())


def evalica_scores(votes):
    winner, loser = zip(*votes)
    wins = [evalica.Winner.X] * len(votes)
    peer = evalica.bradley_terry(winner, loser, wins, tolerance=1e-15, limit=100_000)
    return centred(np.log(peer.scores).sort_index())


def choix_scores(votes, fit):
    items = sorted({item for vote in votes for item in vote})
    place = {item: k for k, item in enumerate(items)}
    pairs = [(place[winner], place[loser]) for winner, loser in votes]
    return centred(pandas.Series(fit(len(items), pairs, tol=1e-12), index=items))


@pytest.fixture(scope="module", params=[1, 2, 3, 4, "complete.csv"])
def votes(request, testdata):
    """Simulated votes, and a study of testdata."""
    if isinstance(request.param, int):
        found = simulated(request.param)
    else:
        table = pandas.read_csv(testdata / request.param, dtype=str)
        found = list(zip(table["winner"], table["loser"]))
    assert is_strongly_connected(found)
    return found


def test_evalica(votes):
    difference = own_scores(votes) - evalica_scores(votes)
    assert len(difference) >= 12 and difference.abs().max() < TOLERANCE


@pytest.mark.parametrize("fit", [choix.ilsr_pairwise, choix.mm_pairwise])
def test_choix(votes, fit):
    difference = own_scores(votes) - choix_scores(votes, fit)
    assert len(difference) >= 12 and difference.abs().max() < TOLERANCE


def test_counts_equal_repeated_votes(votes):
    """Equal votes are one row with a count, as evalica's weights are."""
    table = pandas.Series(votes).value_counts()
    counted = pandas.DataFrame(table.index.tolist(), columns=["winner", "loser"])
    counted["count"] = table.to_numpy()
    weighted = evalica.bradley_terry(
        counted["winner"].tolist(),
        counted["loser"].tolist(),
        [evalica.Winner.X] * len(counted),
        weights=counted["count"].astype(float).tolist(),
        tolerance=1e-15,
        limit=100_000,
    )
    own = hodgerank.rank(counted, count="count", method="bt", lapse_rate=0, prior=0)
    scores = centred(pandas.Series(own.scores, index=own.items).sort_index())
    peer = centred(np.log(weighted.scores).sort_index())
    assert (scores - peer).abs().max() < TOLERANCE
