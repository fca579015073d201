"""What people type, checked for shape. What they may do is decided in `permissions` and by the writes themselves."""

from typing import Any

from django import forms
from django.conf import settings
from django.core.files.uploadhandler import SkipFile, TemporaryFileUploadHandler

from reviews import words
from reviews.models import User
from reviews.rules import LEAST_CHARACTERS, MOST_CHARACTERS, REASON_CODES, InvalidDecision, check_words


class SignInForm(forms.Form):
    username = forms.CharField(label="Name", max_length=150, error_messages={"required": "Enter your sign-in name."})
    password = forms.CharField(
        max_length=500, strip=False, widget=forms.PasswordInput, error_messages={"required": "Enter your password."}
    )


class BoundedUpload(TemporaryFileUploadHandler):
    """Writes at most a report's bytes of a request to disk, and nothing for someone who hasn't signed in.

    What is over is read to its end and dropped: the answer can then say how large the file is.
    """

    received = 0  # in this request, over all its files

    def new_file(self, *args: Any, **kwargs: Any) -> None:
        if self.request is None or not self.request.user.is_authenticated:
            raise SkipFile
        super().new_file(*args, **kwargs)

    def receive_data_chunk(self, raw_data: bytes, start: int) -> None:
        self.received += len(raw_data)
        if self.received <= settings.MAX_REPORT_BYTES:
            super().receive_data_chunk(raw_data, start)

    def file_complete(self, file_size: int) -> Any:
        if self.received > settings.MAX_REPORT_BYTES:
            self.request.too_large = (self.file_name, file_size)  # type: ignore[union-attr]
        return super().file_complete(file_size)


class DecisionForm(forms.Form):
    """What an officer says of a finding. Whether it may be recorded, `decisions` says."""

    outcome = forms.ChoiceField(
        label="What becomes of the finding?",
        help_text="“It stands” means that what it says is so. Either way it stays in the case, as reported.",
        widget=forms.RadioSelect,
        choices=[
            ("stands", "It stands"),
            ("does_not_stand", "It does not stand"),
            ("needs_more", "More is needed before it can be decided"),
            ("escalated", "Escalate it to someone more senior"),
        ],
        required=False,
    )
    reason_code = forms.ChoiceField(label="Reason code", required=False)
    reason = forms.CharField(
        label="Reason",
        help_text=f"In your own words, at least {LEAST_CHARACTERS} characters. It becomes part of the trail.",
        widget=forms.Textarea(attrs={"rows": 5, "maxlength": MOST_CHARACTERS}),
        required=False,
        strip=False,
    )
    evidence = forms.MultipleChoiceField(
        label="Evidence you rely on", widget=forms.CheckboxSelectMultiple, required=False
    )
    verdict_id = forms.UUIDField(required=False, widget=forms.HiddenInput)
    newest_word_id = forms.UUIDField(required=False, widget=forms.HiddenInput)
    form_token = forms.UUIDField(
        widget=forms.HiddenInput, error_messages={"required": "This form is incomplete. Open the finding again."}
    )

    def __init__(self, data: Any = None, *, evidence: list[str], draft: str = "", **kwargs: Any) -> None:
        super().__init__(data, auto_id="decide_%s", label_suffix="", **kwargs)
        self.fields["evidence"].choices = [(item, item) for item in evidence]  # type: ignore[attr-defined]
        self.fields["reason_code"].choices = reason_choices()  # type: ignore[attr-defined]
        self.fields["reason"].widget.attrs["data-draft"] = draft
        for name, field in self.fields.items():
            if name in self.errors:
                field.widget.attrs["aria-invalid"] = "true"

    def clean(self) -> dict[str, Any]:
        cleaned = self.cleaned_data
        outcome, code = cleaned.get("outcome", ""), cleaned.get("reason_code", "")
        chosen_for, _, cleaned["code"] = code.rpartition(":")
        try:
            check_words(
                outcome,
                cleaned["code"] if chosen_for == outcome else "",
                cleaned.get("reason", ""),
                cleaned.get("evidence", []),
            )
        except InvalidDecision as problem:
            if not outcome and not code:  # which codes fit is only known with the outcome, that one is needed before
                problem.problems.setdefault("reason_code", "Choose a reason code.")
            for field, sentence in problem.problems.items():
                if field not in self.errors:
                    self.add_error(field, sentence)
        return cleaned


def reason_choices() -> list[Any]:
    """Grouped by outcome: a code belongs to one, so the outcome is part of what is sent."""
    groups = [
        (words.OUTCOMES[outcome], [(f"{outcome}:{code}", sentence) for code, sentence in codes.items()])
        for outcome, codes in REASON_CODES.items()
    ]
    return [("", "Choose one"), *groups]


class SecondForm(forms.Form):
    reason = forms.CharField(
        label="Your reason",
        help_text=f"At least {LEAST_CHARACTERS} characters.",
        widget=forms.Textarea(attrs={"rows": 3, "maxlength": MOST_CHARACTERS}),
        required=False,
        strip=False,
    )


class TakeBackForm(SecondForm):
    form_token = forms.UUIDField(widget=forms.HiddenInput, required=False)


class SwitchForm(forms.Form):
    enabled = forms.ChoiceField(choices=[("yes", "on"), ("no", "off")])
    reason = forms.CharField(
        label="Reason", max_length=1000, error_messages={"required": "Say why the switch is changed."}
    )


class KeyForm(forms.Form):
    form_token = forms.UUIDField(widget=forms.HiddenInput, required=False)
    label = forms.CharField(
        label="What it is for",
        help_text="Such as the system that will use it.",
        max_length=100,
        error_messages={"required": "Say what the key is for."},
    )
    scopes = forms.MultipleChoiceField(
        label="What it may do",
        widget=forms.CheckboxSelectMultiple,
        choices=list(words.SCOPES.items()),
        error_messages={"required": "Choose at least one thing the key may do."},
    )


class UserForm(forms.Form):
    form_token = forms.UUIDField(widget=forms.HiddenInput, required=False)
    username = forms.CharField(
        label="Sign-in name",
        help_text="Unique in the installation, such as m.tamm.",
        max_length=150,
        error_messages={"required": "Enter a sign-in name."},
    )
    display_name = forms.CharField(
        label="Name",
        help_text="As others see it.",
        max_length=150,
        error_messages={"required": "Enter the person's name."},
    )
    role = forms.ChoiceField(label="Role", choices=User.Role.choices)


class PasswordForm(forms.Form):
    """A person's new password. What makes a good one, the validators of the settings say."""

    current = forms.CharField(
        label="Your password now",
        max_length=500,
        strip=False,
        widget=forms.PasswordInput(attrs={"autocomplete": "current-password"}),
        error_messages={"required": "Enter the password you have now."},
    )
    password = forms.CharField(
        label="New password",
        help_text="At least 12 characters, and none that is commonly used. Several words make a good one.",
        max_length=500,
        strip=False,
        widget=forms.PasswordInput(attrs={"autocomplete": "new-password"}),
        error_messages={"required": "Enter a new password."},
    )
    again = forms.CharField(
        label="New password, once more",
        max_length=500,
        strip=False,
        widget=forms.PasswordInput(attrs={"autocomplete": "new-password"}),
        error_messages={"required": "Enter the new password once more."},
    )

    def clean_again(self) -> str:
        again: str = self.cleaned_data["again"]
        if self.cleaned_data.get("password") not in {None, again}:
            raise forms.ValidationError("This is not the same as the new password.")
        return again


class WhyForm(forms.Form):
    """A word on how long a case is kept, with its reason."""

    reason = forms.CharField(
        label="Reason",
        help_text="It becomes part of the trail.",
        max_length=2000,
        widget=forms.Textarea(attrs={"rows": 3, "maxlength": 2000}),
        error_messages={"required": "Say why."},
    )


class EndForm(WhyForm):
    ended_on = forms.DateField(
        label="Day of the end",
        help_text="Of the relationship, the occasional transaction or the refusal, such as 2026-11-30.",
        input_formats=["%Y-%m-%d"],
        widget=forms.TextInput(attrs={"inputmode": "numeric", "maxlength": 10}),
        error_messages={"required": "Give the day.", "invalid": "Write the day as 2026-11-30."},
    )
    field_order = ["ended_on", "reason"]
