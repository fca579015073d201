"""What the stand-in knows: invented companies, people, listings and articles. None of them exists.

A `Statement` ties a claim of a demo report to the one sentence that states it: the stand-in judge affirms by this table
and by nothing else, so it can't be mistaken for a model that reads.
"""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Listed:
    """An entry of the invented sanctions list, with the score it gets when one of its names is asked for."""

    entity_id: str
    schema: str
    caption: str
    asked_as: tuple[str, ...]
    score: float
    topics: tuple[str, ...]
    properties: dict[str, list[str]]
    birth_year_differs: bool = False


@dataclass(frozen=True, slots=True)
class Article:
    about: str  # a search that names this finds it
    engines: tuple[str, ...]
    host: str
    path: str
    title: str
    text: str
    published: str

    @property
    def url(self) -> str:
        return f"https://{self.host}/{self.path}"


@dataclass(frozen=True, slots=True)
class Statement:
    claim: str  # the title of the finding, as reported
    sentence: str  # literally in an article


EVERY_ENGINE = ("tavily", "exa", "brightdata")
OUTAGE = ("Tomasz Wierzba",)  # searches that name one of these are answered with 503

LISTINGS = (
    Listed(
        "sim-kaldvik",
        "Company",
        "Kaldvik Maritime AS",
        ("kaldvik maritime as",),
        0.98,
        ("sanction",),
        {
            "name": ["Kaldvik Maritime AS", "Kaldvik Shipping"],
            "jurisdiction": ["no"],
            "registrationNumber": ["918 204 377"],
            "programId": ["SIM-MARITIME"],
            "sourceUrl": ["https://lists.example/maritime/kaldvik"],
        },
    ),
    Listed(
        "sim-orsino",
        "Person",
        "Paolo Orsino",
        ("paolo orsini",),
        0.63,
        ("sanction",),
        {"name": ["Paolo Orsino"], "birthDate": ["1958-02-11"], "nationality": ["sm"]},
    ),
    Listed(
        "sim-wierzba",
        "Person",
        "Tomasz Wierzba",
        ("tomasz wierzba",),
        0.85,
        ("sanction",),
        {"name": ["Tomasz Wierzba"], "birthDate": ["1949"], "nationality": ["pl"], "programId": ["SIM-TRADE"]},
        birth_year_differs=True,
    ),
)

CHARGED = "The public prosecutor in Bergen has charged Kaldvik Maritime AS with laundering 2.3 million euros."
FINED = "The supervisor imposed a fine of 180,000 euros on Bluefen Payments Ltd for late suspicion reports."

ARTICLES = (
    Article(
        "Kaldvik Maritime AS",
        EVERY_ENGINE,
        "vestland-tidende.example",
        "2026/05/kaldvik-charged",
        "Shipping company charged in port fee case",
        f"{CHARGED} The company says that it will contest the charge.",
        "2026-05-18",
    ),
    Article(
        "Kaldvik Maritime AS",
        ("exa",),
        "fjord-business.example",
        "news/kaldvik-court-date",
        "Court sets date for Kaldvik hearing",
        "The district court will hear the case against Kaldvik Maritime AS in October, a spokesperson said.",
        "2026-07-02",
    ),
    Article(
        "Kaldvik Maritime AS",
        ("tavily", "brightdata"),
        "harbour-watch.example",
        "kaldvik-new-ferry",
        "Kaldvik orders a ferry",
        "Kaldvik Maritime AS ordered a battery ferry for the Sognefjord route.",
        "2025-11-30",
    ),
    Article(
        "Helmgard Logistics GmbH",
        ("tavily", "exa"),
        "hafen-anzeiger.example",
        "2026/helmgard-freispruch",
        "Freispruch im Zollverfahren",
        "Das Landgericht hat die Helmgard Logistics GmbH vom Vorwurf der Zollhinterziehung freigesprochen.",
        "2026-06-11",
    ),
    Article(
        "Helmgard Logistics GmbH",
        ("brightdata",),
        "logistik-heute.example",
        "helmgard-halle",
        "Helmgard baut neue Halle",
        "Die Helmgard Logistics GmbH baut in Stade eine Halle für 120 Beschäftigte.",
        "2026-01-20",
    ),
    Article(
        "Bluefen Payments Ltd",
        ("tavily", "exa"),
        "payments-gazette.example",
        "2026/bluefen-fine",
        "Fine for payment firm",
        f"{FINED} The firm has paid and changed its procedures.",
        "2026-08-27",
    ),
)

STATEMENTS = (
    Statement("Kaldvik Maritime AS charged with money laundering", CHARGED),
    Statement("Supervisor fined Bluefen Payments Ltd", FINED),
)
