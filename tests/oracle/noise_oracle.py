"""Tests of whether two series differ, worked out in the plainest way: by going through all orders, by adding up areas.
Shares nothing with the program."""
import itertools
import math


def ranks(values):
    """From 1; equal values share the mean of theirs."""
    return [sum(1 for other in values if other < value) + (sum(1 for other in values if other == value) + 1) / 2
            for value in values]


def rank_sum_p(a, b):
    """Two-sided, by all ways of choosing len(a) of the ranks: as far from the middle, or farther. Without ties."""
    both = ranks(list(a) + list(b))
    middle = len(a) * (len(a) + len(b) + 1) / 2
    distance = abs(sum(both[:len(a)]) - middle)
    ways = [abs(sum(chosen) - middle) >= distance - 1e-9 for chosen in itertools.combinations(both, len(a))]
    return sum(ways) / len(ways)


def normal_p(a, b):
    """The approximation for ties: z of the rank sum, half a rank nearer to the middle, against the normal curve."""
    both = ranks(list(a) + list(b))
    count, mean = len(both), (len(both) + 1) / 2
    # The variance of a sum of ranks drawn without putting back: from that of the ranks themselves.
    spread = sum((rank - mean) ** 2 for rank in both) / (count - 1)
    sigma = math.sqrt(spread * len(a) * len(b) / count)
    if sigma == 0:
        return 1.0
    z = max(0.0, abs(sum(both[:len(a)]) - len(a) * mean) - 0.5) / sigma
    return min(1.0, math.erfc(z / math.sqrt(2)))


def student_p(t, degrees, pieces=20000):
    """Two-sided: 1 less the area of the density between -t and t, by Simpson's rule."""
    scale = math.exp(math.lgamma((degrees + 1) / 2) - math.lgamma(degrees / 2)) / math.sqrt(degrees * math.pi)

    def density(x):
        return scale * (1 + x * x / degrees) ** (-(degrees + 1) / 2)
    width = abs(t) / pieces
    inner = sum((4 if i % 2 else 2) * density(i * width) for i in range(1, pieces))
    return 1 - 2 * width / 3 * (density(0) + inner + density(abs(t)))


def trend_p(values):
    """Of Spearman's correlation with the place, by Student's t."""
    of = ranks(values)
    n, middle = len(of), (len(of) + 1) / 2
    together = sum((place - middle) * (rank - middle) for place, rank in enumerate(of, 1))
    size = math.sqrt(sum((rank - middle) ** 2 for rank in of)
                     * sum((place - middle) ** 2 for place in range(1, n + 1)))
    if size == 0:
        return 1.0
    rho = together / size
    return 0.0 if abs(rho) >= 1 else student_p(rho * math.sqrt((n - 2) / (1 - rho * rho)), n - 2)


def middle_mean(values):
    """The mean without the lowest and the highest quarter."""
    ordered = sorted(values)
    inner = ordered[len(ordered) // 4:len(ordered) - len(ordered) // 4]
    return sum(inner) / len(inner)


def holm(ps):
    """The least level at which each is rejected: the smallest first, against the level over those that are left."""
    adjusted = {}
    for place, (p, name) in enumerate(sorted((p, i) for i, p in enumerate(ps))):
        adjusted[name] = max([min(1.0, p * (len(ps) - place))] + list(adjusted.values()))
    return [adjusted[i] for i in range(len(ps))]
