"""Names and values of secrets are told from code, templates and words."""

import argparse
import asyncio.events
import dataclasses
import ftplib
import getpass
import http.client
import imaplib
import inspect
import json.decoder
import logging
import re
import smtplib
import ssl
import urllib.request
from types import ModuleType

import pytest

from benchmarks import secret_samples
from memtui.redaction import RedactedText, redact
from memtui.redaction.names import is_random, kind_of_name

MODULES: tuple[ModuleType, ...] = (
    argparse, asyncio.events, dataclasses, ftplib, getpass, http.client, imaplib,
    json.decoder, logging, smtplib, ssl, urllib.request,
)  # fmt: skip
"""Sources with many calls, subscripts and patterns, some of them about passwords."""


@pytest.mark.full
@pytest.mark.parametrize("place", secret_samples.PASSWORD_PLACES)
def test_most_random_passwords_are_removed(place: str) -> None:
    samples = [
        sample
        for seed in range(1, 6)
        for sample in secret_samples.make_passwords(seed, place, 2000)
    ]
    missed = [
        sample.secret
        for sample in samples
        if not secret_samples.is_removed(sample, redact(sample.text).text)
    ]
    assert len(missed) <= 0.03 * len(samples), missed


CODE = (
    "user.password", "user.Password2FA.value", "getpass()", "getpass.getpass()",
    "getPass(req.body)", "config['DB_PASSWORD']", "config[key].value",
    "os.environ[key]", "os.getenv('DB_PASS')", "str", "Optional[str]",
    "z.string().min(8)", "$user->Pass",
    "Field(default=None)", "self.fields[0].get(K)", "&self.Token[1..]",
    "${{ secrets.DB_PASSWORD }}", "${DB_PASSWORD:-x1}", "$(cat /run/secrets/db)",
    "<your password>", "<YOUR_Password_1>", "{{ .Values.dbPassword }}", "%DB_PASS%",
    "[A-Za-z0-9!@#$%^&*]{8,}", "/^(?=.*[A-Z]).{8,}$/", "process.env.DB_PASSWORD!,",
    "x=>x.Pass[0]", "map[string]Token{}", "Vec<Option<Pass>>", "new Map<K,V1>()",
    "validate(Pw,(a,b)=>a[0]&&b)", "fetch(`${URL}/v1`)", "Base64.encode(Pass1[0])",
)  # fmt: skip
"""Expressions, types, templates and patterns in the place of a password."""

CODE_PLACES = (
    "password: {}", "password = {}", "    password: {},\n", "db_password={}",
    "the password is {} now", "token: {}", "api_key: {}\n", "const secret = {};",
)  # fmt: skip


@pytest.mark.parametrize("place", CODE_PLACES)
def test_code_in_the_place_of_a_password_is_unchanged(place: str) -> None:
    texts = [place.format(code) for code in CODE]
    assert [redact(text) for text in texts] == [RedactedText(t, ()) for t in texts]


@pytest.mark.parametrize(
    "text",
    [
        "token: str = Field(..., min_length=8, pattern='^[A-Z0-9]+$')",
        "password: Annotated[str, Field(Min(8))] = Depends(get_Password1)",
        "def __init__(self, password: str = os.environ['PW'], *, Token2: bool = 1):",
        "password: (await getSecret('db/Pass1'))!.value,",
        "api_key: ${{ secrets.OPENAI_API_KEY }}",
    ],
)
def test_declarations_are_unchanged(text: str) -> None:
    assert redact(text) == RedactedText(text, ())


def test_names_in_real_code_are_not_random() -> None:
    names = {
        name
        for module in MODULES
        for name in re.findall(r"[A-Za-z_][\w.]{9,}", inspect.getsource(module))
    }
    assert len(names) > 2000
    assert {name for name in names if is_random(name)} == set()


@pytest.mark.parametrize(
    ("text", "expected_end"),
    [
        ("password=k#9Lm!2Qz&7Wp^4R&page=2", "&page=2"),
        ("password=k#9Lm!2Qz&7Wp^4R&x=1", "&x=1"),
        ("Password=k#9Lm!2Qz&7Wp^4R;User Id=ada", ";User Id=ada"),
        ("login(password: k#9Lm!2Qz&7Wp^4R)", ")"),
        ("{password: k#9Lm!2Qz&7Wp^4R, port: 1}", ", port: 1}"),
        ("{password: k#9Lm!2Qz&7Wp^4R,retryCount: 1}", ",retryCount: 1}"),
        ("the password is k#9Lm!2Qz&7Wp^4R.", "."),
    ],
)
def test_mark_ends_with_the_password(text: str, expected_end: str) -> None:
    assert redact(text).text.endswith(f"[redacted: password]{expected_end}")


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("DB_PASSWORD", "password"),
        ("smtpPassword", "password"),
        ("db-pass", "password"),
        ("clientSecret", "secret"),
        ("X-Api-Key", "api key"),
        ("stripe_restricted_key", "api key"),
        ("GITHUB_TOKEN", "token"),
        ("DATABASE_PASSWORD_PROD", "password"),
        ("PASSED", ""),
        ("bypass", ""),
        ("max_tokens", ""),
        ("public_key", ""),
        ("cache_key", ""),
        ("nextPageToken", ""),
        ("tokenizer", ""),
        ("password_hash", ""),
        ("hashed_secret", ""),
    ],
)
def test_kind_of_a_name(name: str, kind: str) -> None:
    assert kind_of_name(name) == kind


def test_a_token_of_sixteen_characters_is_a_secret_and_a_shorter_one_is_not() -> None:
    token = "q7Rz2LxW9vTb4NkJ"
    assert redact(f'{{"token": "{token}"}}').text == '{"token": "[redacted: token]"}'
    assert redact(f'{{"token": "{token[:-1]}"}}').kinds == ()
