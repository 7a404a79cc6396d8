"""A companion to look around with: 小满 and 林, invented, generated line by line (spec X6)."""
