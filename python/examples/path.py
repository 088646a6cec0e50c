"""The path of a robust method: which votes are flagged first, and how the scores change."""

import hodgerank

votes = 5 * [("cat", "dog"), ("dog", "cow"), ("cat", "cow")]
# One vote against all others.
votes.append(("cow", "cat"))

events = hodgerank.path(votes, method="iss", outliers=3, what="events").document
print(f"{events['parameter']}, status {events['status']}")
for line in events["lines"]:
    event = line["event"]
    print(
        f"t = {line['at']:.3f}: {event['left']} against {event['right']}, "
        f"outcome {event['y']:g}: {event['change']}"
    )

scores = hodgerank.path(votes, method="iss", outliers=3).document["lines"]
last = max(line["knot"] for line in scores)
for line in scores:
    if line["knot"] == last:
        print(f"{line['item']:3} {line['score']:+.4f}")
