"""What is read in each language besides English, and what is left alone."""

from __future__ import annotations

import pytest

from app.memory.extract.detect import Languages
from app.memory.extract.heuristic import extract
from tests.memory.extract.reading import AT

LANGUAGES = Languages()


def slots(text: str) -> dict[str, str | None]:
    found = extract(text, AT, LANGUAGES.of(text))
    return {item.fact.content: item.fact.slot for item in found}


@pytest.mark.requirement("M29")
@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Ich heiße Jana und wohne in Kassel.", {"name", "home_city"}),
        ("Ich arbeite bei der Firma Talwerk.", {"employer"}),
        ("Ich bin Vegetarierin.", {"diet"}),
        ("Ich bin allergisch gegen Nüsse.", {"allergy"}),
        ("Mein Kater heißt Oskar.", {"pet.cat.name"}),
        ("Me llamo Lucía y vivo en Sevilla.", {"name", "home_city"}),
        ("Trabajo en una farmacia.", {"employer"}),
        ("Soy vegana.", {"diet"}),
        ("Soy alérgica al marisco.", {"allergy"}),
        ("Mi perra se llama Canela.", {"pet.dog.name"}),
        ("Je m'appelle Solène et j'habite à Rennes.", {"name", "home_city"}),
        ("Je travaille chez un fleuriste.", {"employer"}),
        ("Je suis végétarienne.", {"diet"}),
        ("Mon mari est allergique aux arachides.", {"allergy"}),
        ("Notre chat s'appelle Moka.", {"pet.cat.name"}),
        ("Meu nome é Caio e moro em Recife.", {"name", "home_city"}),
        ("Trabalho numa fábrica de cerâmica.", {"employer"}),
        ("Sou vegetariana.", {"diet"}),
        ("Sou alérgico a camarão.", {"allergy"}),
        ("A minha gata chama-se Nina.", {"pet.cat.name"}),
        ("我叫林晓，住在成都。", {"name", "home_city"}),
        ("我在一家广告公司上班。", {"employer"}),
        ("我对花生过敏。", {"allergy"}),
        ("我家的猫叫豆包。", {"pet.cat.name"}),
        ("白石ことりといいます。札幌に住んでいます。", {"name", "home_city"}),
        ("製薬会社で働いています。", {"employer"}),
        ("そばアレルギーです。", {"allergy"}),
        ("うちの犬の名前はもなかです。", {"pet.dog.name"}),
    ],
)
def test_a_value_finds_its_slot_in_every_language(text: str, expected: set[str]) -> None:
    assert set(slots(text).values()) == expected


@pytest.mark.requirement("M29")
@pytest.mark.parametrize(
    "text",
    [
        "Wie koche ich Reis?",
        "Wenn ich in Japan leben würde, was würde ich essen?",
        "Schreib mir bitte eine Mail an den Vermieter.",
        "Tu so, als ob du ein Pirat wärst. Ich bin der Kapitän.",
        "¿Cómo se cocina el arroz?",
        "Si yo viviera en Japón, comería sushi.",
        "Imagina que soy un detective y vivo en Londres.",
        "Escribe un correo para mi casero.",
        "Comment cuire un œuf ?",
        "Si j'habitais à La Rochelle, j'aurais un voilier.",
        "Imagine que je suis un chevalier et que j'habite un château.",
        "Écris une lettre à ma banque.",
        "Como se faz arroz?",
        "Se eu morasse no Japão, comia sushi.",
        "Vamos fingir que eu sou um detetive e moro em Londres.",
        "Escreve uma carta ao meu banco.",
        "怎么做米饭？",
        "如果我住在日本，我会吃寿司。",
        "假装你是海盗，我是船长。",
        "帮我写一封邮件给房东。",
        "ご飯の炊き方を教えてください。",
        "もし日本に住んでいたら寿司を食べます。",
        "海賊のふりをして。私は船長です。",
        "大家さんへのメールを書いてください。",
    ],
)
def test_nothing_is_read_into_what_states_nothing(text: str) -> None:
    assert slots(text) == {}


@pytest.mark.requirement("M29")
@pytest.mark.parametrize(
    "text",
    [
        "Meine Schwester ist nach Graz gezogen.",
        "Mein Bruder arbeitet bei Siemens.",
        "Meine Frau ist Vegetarierin.",
        "Mi hermana se mudó a Sevilla.",
        "Mi marido trabaja en Telefónica.",
        "Mi hija es vegana.",
        "Mon frère a déménagé à Nice.",
        "Ma femme travaille chez Renault.",
        "Mon père est végétarien.",
        "Meu irmão se mudou para Braga.",
        "Minha mãe trabalha no Banco Sol.",
        "Minha filha é vegetariana.",
        "我妹妹搬到苏州了。",
        "我爸爸在一家银行工作。",
        "妹は仙台に引っ越しました。",
        "父は銀行で働いています。",
    ],
)
def test_what_holds_of_somebody_else_fills_no_slot_of_ones_own(text: str) -> None:
    assert set(slots(text).values()) <= {None}


@pytest.mark.parametrize(
    ("text", "content"),
    [
        ("No tengo coche.", "No tengo coche."),
        ("Não tenho carro.", "Não tenho carro."),
        ("Je ne mange pas de viande.", "Je ne mange pas de viande."),
        ("Ich esse kein Fleisch.", "Ich esse kein Fleisch."),
        ("我不喝酒。", "我不喝酒。"),
        ("お酒は飲みません。", "お酒は飲みません。"),
    ],
)
def test_a_negation_stays_in_the_statement(text: str, content: str) -> None:
    assert list(slots(text)) == [content]


@pytest.mark.requirement("M31")
@pytest.mark.parametrize(
    ("text", "written"),
    [
        ("Ich bin letzten Monat nach Graz gezogen.", "im Oktober 2026"),
        ("Me mudé a Sevilla el mes pasado.", "en octubre de 2026"),
        ("J'ai déménagé à Annecy le mois dernier.", "en octobre 2026"),
        ("Me mudei para Braga no mês passado.", "em outubro de 2026"),
        ("我上个月搬到苏州了。", "2026年10月"),
        ("先月、仙台に引っ越しました。", "2026年10月"),
    ],
)
def test_a_relative_date_is_resolved_in_every_language(text: str, written: str) -> None:
    ((content, slot),) = slots(text).items()
    assert written in content
    assert slot == "home_city"
