import hodgerank

votes = [("cat", "dog", 1), ("dog", "cow", 1), ("cat", "cow", 0)]

ranking = hodgerank.rank(votes)
for row in ranking.rows:
    print(f"{row['rank']}. {row['item']} ({row['score']:.4f})")
for vote in hodgerank.outliers(votes).rows:
    print(f"{vote['left']} against {vote['right']}, outcome {vote['outcome']}")
