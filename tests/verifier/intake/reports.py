"""Reports as callers send them."""

import json
from datetime import UTC, datetime
from typing import Any

AT = datetime(2026, 7, 20, 8, 30, tzinfo=UTC)


def finding(finding_id: str = "f1", **changes: Any) -> dict[str, Any]:
    listed = {"category": "sanctions", "type": "sanctions_hit", "severity": "critical", "title": "Listed", "hit": True}
    return {"id": finding_id, **listed, **changes}


def report(**changes: Any) -> dict[str, Any]:
    return {"report_id": "inv-1", "subject": {"name": "Acme Trading OÜ"}, "findings": [finding()], **changes}


def content(**changes: Any) -> bytes:
    return json.dumps(report(**changes), ensure_ascii=False).encode()
