"""What people type, checked for shape. What they may do is decided in `permissions` and by the writes themselves."""

from django import forms


class SignInForm(forms.Form):
    username = forms.CharField(label="Name", max_length=150, error_messages={"required": "Enter your sign-in name."})
    password = forms.CharField(
        max_length=500, strip=False, widget=forms.PasswordInput, error_messages={"required": "Enter your password."}
    )
