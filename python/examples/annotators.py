"""Who votes against everyone else? Votes with annotators and sides, flagged votes, and statistics per
annotator."""

import pandas

import hodgerank

COFFEES = ["espresso", "filter", "latte", "mocha", "instant"]

rows = []
for k, left in enumerate(COFFEES):
    for l, right in enumerate(COFFEES):
        if k == l:
            continue
        # Coffees are listed from best to worst.
        outcome = 1 if k < l else -1
        rows += [(annotator, left, right, outcome, 2) for annotator in ("ann", "bob", "eve")]
        # Mallory always clicks left.
        rows.append(("mallory", left, right, 1, 1))
votes = pandas.DataFrame(rows, columns=["annotator", "left", "right", "y", "count"])

ranking = hodgerank.rank(votes)
for row in ranking.rows:
    print(f"{row['rank']}. {row['item']} ({row['score']:.4f})")

flagged = hodgerank.outliers(votes).rows
print(f"\n{len(flagged)} flagged votes, such as:")
for vote in flagged[:3]:
    print(f"  {vote['left']} against {vote['right']}, outcome {vote['outcome']}, {vote['annotator']}")

print("\nannotator  votes  flagged  left share  verdict")
for report in ranking.annotators or []:
    print(
        f"{report['annotator']:9}  {report['votes']:5}  {report['flagged']:7}"
        f"  {report['left_share']:10.0%}  {report['verdict']}"
    )
