from __future__ import annotations

import random
import re
import string

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.memory.secret_formats import drawn, drawn_or_hash, iban, luhn
from app.memory.secrets import MASK, mask

pytestmark = pytest.mark.requirement("M32")

# What a key is made of; `{A20}` in a form below is twenty of A, drawn anew for each run.
ALPHABETS = {
    "A": string.ascii_letters + string.digits,
    "U": string.ascii_letters + string.digits + "-_",
    "X": "0123456789abcdef",
    "L": string.ascii_lowercase + string.digits,
    "C": string.ascii_uppercase + string.digits,
    "D": string.digits,
    "Z": string.ascii_lowercase,
}
FORMS = """
aws AKIA{C16}
aws session ASIA{C16}
github ghp_{A36}
github fine-grained github_pat_{A22}_{A59}
github app ghs_{A36}
gitlab glpat-{U20}
gitlab runner GR1348941{A20}
openai, old sk-{A20}T3BlbkFJ{A20}
openai project sk-proj-{U58}T3BlbkFJ{U58}
openai service sk-svcacct-{U58}T3BlbkFJ{U58}
anthropic sk-ant-api03-{U93}AA
openrouter sk-or-v1-{X64}
stripe sk_live_51{A97}
stripe restricted rk_live_{A99}
stripe test sk_test_{A24}
stripe webhook whsec_{A32}
slack bot xoxb-{D12}-{D12}-{A24}
slack app xapp-1-A{C10}-{D13}-{X64}
slack webhook https://hooks.slack.com/services/T{C8}/B{C8}/{A24}
discord M{A25}.G{A5}.{U38}
discord webhook https://discord.com/api/webhooks/{D18}/{U68}
google AIza{U35}
google secret GOCSPX-{U28}
huggingface hf_{Z34}
groq gsk_{A52}
replicate r8_{A37}
npm npm_{A36}
pypi pypi-AgEIcHlwaS5vcmc{U120}
docker hub dckr_pat_{A27}
databricks dapi{X32}
digitalocean dop_v1_{X64}
shopify shpat_{X32}
linear lin_api_{A40}
notion ntn_{D11}{A35}
perplexity pplx-{A48}
tavily tvly-{A32}
nvidia nvapi-{A64}
xai xai-{A80}
cerebras csk-{L48}
sendgrid SG.{A22}.{A43}
mailgun key-{X32}
mailchimp {X32}-us12
twilio AC{X32}
telegram {D10}:AA{U33}
square sq0csp-{A43}
azure storage AccountKey={A86}==
age AGE-SECRET-KEY-1{C58}
doppler dp.pt.{A43}
vault hvs.{A95}
atlassian ATATT3xFfGF0{A180}
figma figd_{A40}
postman PMAK-{X24}-{X34}
grafana glsa_{A32}_{X8}
new relic NRAK-{C27}
sentry sntryu_{X64}
airtable pat{A14}.{X64}
supabase sbp_{X40}
terraform {A14}.atlasv1.{A64}
pulumi pul-{X40}
rubygems rubygems_{X48}
dropbox sl.{A140}
langsmith lsv2_pt_{X32}_{X10}
pinecone pcsk_{A6}_{A60}
elevenlabs sk_{X48}
brevo xkeysib-{X64}-{A16}
buildkite bkua_{X40}
circleci CCIPAT_{A22}_{X40}
netlify nfp_{A36}
neon napi_{L64}
tailscale tskey-auth-{A12}CNTRL-{A32}
of nobody yet zyx_{A40}
bare {A40}
json web token eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.{A43}
"""
ROWS = [line.rpartition(" ")[::2] for line in FORMS.strip().splitlines()]


def made(form: str, seed: int) -> str:
    chosen = random.Random(f"{form}{seed}")  # noqa: S311
    return re.sub(
        r"\{(\w)(\d+)\}",
        lambda m: "".join(chosen.choices(ALPHABETS[m[1]], k=int(m[2]))),
        form,
    )


@pytest.mark.parametrize(("name", "form"), ROWS, ids=[name for name, _ in ROWS])
def test_a_key_goes_as_a_whole(name: str, form: str) -> None:
    for seed in range(5):
        key = made(form, seed)
        masked = mask(f"Hi, my key is {key} and I like tea")
        assert masked.text in {
            f"Hi, my key is {MASK} and I like tea",
            f"Hi, my key is AccountKey={MASK} and I like tea",
        }, name
        assert masked.kinds, name
        assert not any(part in mask(f"it was {key}.").text for part in (key, key[-12:])), name


@pytest.mark.parametrize(
    "text",
    [
        "My laptop is a ThinkPad X1 Carbon Gen 11",
        "I run Ubuntu 24.04 on an RTX4090-24GB",
        "order 123e4567-e89b-12d3-a456-426614174000",
        "We use the gpt-4o-mini-2024-07-18 model",
        "my flight is LH2024 on 2026-05-07T10:15:00Z",
        "my favourite repo is github.com/openai/openai-python",
        "commit 3f2504e04f8941d39a0c0305e82c3301aabbccdd broke the build",
        "The API version is 2024-05-01-preview",
        "Our server is ip-10-0-12-34.eu-west-1.compute.internal",
        "The tracking number is 1Z999AA10123456784",
        "my email is ana.maria.lopez1984@example-company.com",
        "The key file is in src/main/java/com/example/KeyStore2Test.java",
        "I am on the api team since 2021-03-01",
        "token budgets are 4096 tokens",
        "thisIsJustAVeryLongCamelCaseName1",
        "Donaudampfschifffahrtsgesellschaftskapitän",
        "https://example.com/watch?v=dQw4w9WgXcQ",
    ],
)
def test_what_only_looks_odd_stays(text: str) -> None:
    assert mask(text).text == text


def test_a_hash_is_a_secret_only_where_it_is_called_one() -> None:
    sha = "3f2504e04f8941d39a0c0305e82c3301aabbccdd"
    assert mask(f"the commit is {sha}").text == f"the commit is {sha}"
    assert mask(f"the client secret: {sha}").kinds
    assert mask("my heroku token dfb706dd-6eb0-088e-560b-f711fa71e379 works").kinds == ("api_key",)
    assert not drawn(sha)
    assert drawn_or_hash(sha)


@pytest.mark.parametrize(
    ("digits", "valid"),
    [("4111111111111111", True), ("4111 1111-1111 1111", True), ("4111111111111112", False),
     ("0", False), ("", False)],
)  # fmt: skip
def test_luhn(digits: str, *, valid: bool) -> None:
    assert luhn(digits) is valid


def test_iban_and_randomness() -> None:
    assert iban("GB82 WEST 1234 5698 7654 32")
    assert not iban("GB83 WEST 1234 5698 7654 32")
    assert drawn("Zk93hGsT71qLmN0pQrStUvWx24Yz")
    assert drawn("70z2-h20=1x485uh5hcyiz_5136a-kqkhnj0ameoc64")
    assert not drawn("thisIsJustAVeryLongCamelCaseName1")
    assert not drawn("")


@given(st.text())
def test_any_text_can_be_judged(text: str) -> None:
    assert drawn(text) <= drawn_or_hash(text)
