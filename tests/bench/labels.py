"""Corroboration labels against the sum of their parts: one normalisation, one group-by, one stamp."""

import gc
import random
import statistics
import unicodedata
from collections import defaultdict

from tests.bench.measure import interleaved, median_ratio, report, seconds
from verifier.domain.corroboration import label
from verifier.domain.findings import ReportedFinding, read_finding

WORDS = [
    "Assets",
    "Prosecutor",
    "Überweisung",
    "Société",
    "frozen",
    "charged",
    "bank",
    "nominee",
    "director",
    "Käo",
    "liiga",
    "señal",
    "court",
]
SOURCES = ["tavily", "exa", "brightdata_serp", "opensanctions", "Reuters", "kbo"]


def findings(count: int) -> list[ReportedFinding]:
    chance = random.Random(count)
    titles = [" ".join(chance.choices(WORDS, k=7)) for _ in range(max(count // 3, 1))]
    return [
        read_finding(
            {
                "id": f"f{number}",
                "severity": "high",
                "title": chance.choice(titles),
                "category": "criminal",
                "_provider": chance.choice(SOURCES),
                "target": f"Company {number % 50}",
            }
        )
        for number in range(count)
    ]


def normalise(text: str) -> str:
    return " ".join(unicodedata.normalize("NFKC", text).casefold().split())


class Parts:
    """The three parts alone, and the way that normalises in both passes."""

    def __init__(self, rows: list[ReportedFinding]) -> None:
        self.rows = rows
        self.keys = [
            (normalise(row.target or ""), row.attribution_lane, row.category, normalise(row.title)) for row in rows
        ]

    def normalising(self) -> list[str]:
        return [normalise(row.title) for row in self.rows]

    def grouping(self) -> dict[object, set[str]]:
        groups: dict[object, set[str]] = defaultdict(set)
        for key, row in zip(self.keys, self.rows, strict=True):
            groups[key].add(row.provider)
        return groups

    def stamping(self) -> list[dict[str, object]]:
        return [
            {"source_trust": 0.7, "corroboration_count": 2, "corroborated": True, "uncorroborated": False}
            for _ in self.rows
        ]

    def twice(self) -> list[dict[str, object]]:
        groups: dict[object, set[str]] = defaultdict(set)
        for row in self.rows:
            key = (normalise(row.target or ""), row.attribution_lane, normalise(row.category), normalise(row.title))
            groups[key].add(normalise(row.provider))
        stamped = []
        for row in self.rows:
            key = (normalise(row.target or ""), row.attribution_lane, normalise(row.category), normalise(row.title))
            count = len(groups[key])
            stamped.append({"source_trust": 0.7, "corroboration_count": count, "corroborated": count > 1})
        return stamped


def run() -> bool:
    rows = findings(20_000)
    parts = Parts(rows)
    gc.disable()
    try:
        times = interleaved(
            {
                "label": lambda: label(rows),
                "normalise": parts.normalising,
                "group": parts.grouping,
                "stamp": parts.stamping,
                "twice": parts.twice,
            }
        )
        small, large = findings(10_000), findings(1_000_000)
        growth = growth_per_finding(small, large)
    finally:
        gc.enable()
    sums = [sum(trio) for trio in zip(times["normalise"], times["group"], times["stamp"], strict=True)]
    per_finding = statistics.median(times["label"]) / len(rows)
    ratio = median_ratio(times["label"], sums)
    faster = median_ratio(times["twice"], times["label"])
    return all(
        [
            report(
                name="labels_against_parts",
                value=per_finding * 1e6,
                unit="us per finding",
                baseline=statistics.median(sums) / len(rows) * 1e6,
                ratio=ratio,
                goal="<= 1.35",
                met=ratio <= 1.35,
            ),
            report(
                name="labels_against_normalising_twice",
                value=per_finding * 1e6,
                unit="us per finding",
                baseline=statistics.median(times["twice"]) / len(rows) * 1e6,
                ratio=faster,
                goal=">= 1.5",
                met=faster >= 1.5,
            ),
            report(
                name="labels_at_a_million_against_ten_thousand",
                value=growth[1] * 1e6,
                unit="us per finding",
                baseline=growth[0] * 1e6,
                ratio=growth[1] / growth[0],
                goal="<= 2.5",
                met=growth[1] / growth[0] <= 2.5,
            ),
        ]
    )


def growth_per_finding(small: list[ReportedFinding], large: list[ReportedFinding]) -> tuple[float, float]:
    """Median seconds a finding at both sizes, alternated."""
    few, many = [], []
    for _ in range(3):
        few.append(statistics.median(seconds(lambda: label(small)) for _ in range(5)) / len(small))
        many.append(seconds(lambda: label(large)) / len(large))
    return statistics.median(few), statistics.median(many)
