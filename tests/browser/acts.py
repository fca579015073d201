"""What a person does on the pages, in the words of the pages."""

from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Page

REASON = "The list shows another company with another registration number."


def fill_decision(page: Page, outcome: str = "It does not stand", code: str = "It is about someone else") -> None:
    page.get_by_label(outcome, exact=True).check()
    page.get_by_label("Reason code").select_option(label=code)
    page.get_by_label("The report itself").check()
    page.get_by_label("Reason", exact=True).fill(REASON)


def check_and_record(page: Page) -> None:
    page.get_by_role("button", name="Check and record").click()
    page.get_by_role("button", name="Record:").click()
    page.wait_for_url("**/decisions/**")


def violations(page: Page) -> list[str]:
    """What axe-core finds, each as its rule and where."""
    found = Axe().run(page).response["violations"]
    return [f"{one['id']}: {node['html'][:160]}" for one in found for node in one["nodes"]]


def overflows(page: Page) -> bool:
    return bool(page.evaluate("document.documentElement.scrollWidth > window.innerWidth"))
