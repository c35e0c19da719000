"""The estimator once more, bar by bar in plain Python, which shares nothing but the rule."""

import math
from datetime import UTC, datetime
from zoneinfo import ZoneInfo

LEAST, BLOCKS, AROUND = 50, 400, 50


def atr(bars, n=14):
    """Wilder's average of the true range, seeded with the mean of the first n."""
    ranges = []
    for i in range(len(bars)):
        high, low = bars.high[i], bars.low[i]
        if i == 0:
            ranges.append(high - low)
        else:
            before = bars.close[i - 1]
            ranges.append(max(high - low, abs(high - before), abs(low - before)))
    out = [math.nan] * len(bars)
    if len(bars) >= n:
        out[n - 1] = sum(ranges[:n]) / n
        for i in range(n, len(bars)):
            out[i] = (out[i - 1] * (n - 1) + ranges[i]) / n
    return out


def quantile(values, share):
    ordered = sorted(values)
    place = share * (len(ordered) - 1)
    below = math.floor(place)
    above = min(below + 1, len(ordered) - 1)
    return ordered[below] + (ordered[above] - ordered[below]) * (place - below)


class Oracle:
    def __init__(self, bars, zone, first=0):
        self.bars, self.first, count = bars, first, len(bars)
        known = atr(bars)
        self.unit = [math.nan, *known[:-1]]
        self.fits = [i >= first and self.unit[i] > 0 for i in range(count)]
        self.size = max(1, math.ceil((count - first) / BLOCKS))
        self.blocks = math.ceil((count - first) / self.size)
        self.block = [max(i - first, 0) // self.size for i in range(count)]
        shares = [self.unit[i] / abs(bars.close[i - 1]) if i else 0.0 for i in range(count)]
        fitting = [shares[i] for i in range(count) if self.fits[i]]
        low, high = quantile(fitting, 1 / 3), quantile(fitting, 2 / 3)
        clock = ZoneInfo(zone)
        self.bucket = []
        for i in range(count):
            hour = datetime.fromtimestamp(bars.time[i] / 1000, UTC).astimezone(clock).hour
            self.bucket.append((hour, int(shares[i] >= low) + int(shares[i] >= high)))
        returns = [bars.open[i + 1] - bars.open[i] for i in range(count - 1)]
        there = [i for i in range(count - 1) if self.fits[i]]
        around = math.ceil(AROUND / self.size)
        self.excess = [0.0] * count
        for i in there:
            self.excess[i] = returns[i] - self.mean(returns, there, i, around)

    def mean(self, values, there, bar, around):
        """The mean of a bar's bucket, far from it; of its tercile, or of all, where it is small."""
        bucket = self.bucket[bar]
        levels = (
            ([i for i in there if self.bucket[i] == bucket], LEAST),
            ([i for i in there if self.bucket[i][1] == bucket[1]], 0),
            (there, 0),
        )
        for same, least in levels:
            far = [i for i in same if abs(self.block[i] - self.block[bar]) > around]
            if len(same) >= least and far:
                return sum(values[i] for i in far) / len(far)
        return 0.0

    def test(self, entries, side, h):
        bars, gross, weight = self.bars, [0.0] * self.blocks, [0.0] * self.blocks
        effects, hits, expected, best, worst = [], [], [], [], []
        there = [i for i in range(len(bars) - h) if self.fits[i]]
        ahead = [float(side * (bars.open[i + h] - bars.open[i]) > 0) for i in range(len(bars) - h)]
        around = math.ceil(max(AROUND, h) / self.size) + (h > 1)
        for entry in entries:
            effect = 0.0
            for bar in range(entry, entry + h):
                part = side * self.excess[bar] / self.unit[entry]
                effect += part
                gross[self.block[bar]] += part
                weight[self.block[bar]] += 1 / h
            effects.append(effect)
            hits.append(side * (bars.open[entry + h] - bars.open[entry]) > 0)
            expected.append(self.mean(ahead, there, entry, around))
            up = max(bars.high[entry : entry + h]) - bars.open[entry]
            down = bars.open[entry] - min(bars.low[entry : entry + h])
            best.append(up if side > 0 else down)
            worst.append(down if side > 0 else up)
        return {
            "effect": effects,
            "gross": gross,
            "weight": weight,
            "hit": hits,
            "hit_baseline": expected,
            "favourable": best,
            "adverse": worst,
        }
