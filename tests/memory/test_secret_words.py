from __future__ import annotations

import pytest

from app.memory.secrets import MASK, mask

pytestmark = pytest.mark.requirement("M32")

# (text, the part that must go, its kind)
SAID = [
    ("My password is still hunter2", "hunter2", "password"),
    ("the pin for my card is four seven one one", "four seven one one", "password"),
    ("The code for Anna's bike lock is 4-7-1-1", "4-7-1-1", "code"),
    ("the code for the front door is 4711B", "4711B", "code"),
    ("Use code 482 913 to log in", "482 913", "code"),
    ("482913 is your verification code", "482913", "password"),
    ("Your one-time code is 7741", "7741", "code"),
    ("The number for the safe is 99 12 33", "99 12 33", "code"),
    ("cvv 123", "123", "code"),
    ("mein Passwort ist sonnenblume", "sonnenblume", "password"),
    ("Das WLAN-Passwort lautet Kater99", "Kater99", "password"),
    ("Das Passwort fürs Gäste-WLAN ist Sommer2024!", "Sommer2024!", "password"),
    ("Unser Wlanpasswort ist hexenhaus", "hexenhaus", "password"),
    ("Mein Kennwort ist jetzt blau77", "blau77", "password"),
    ("die PIN meiner Karte ist 4711", "4711", "password"),
    ("meine PIN ist eins zwei drei vier", "eins zwei drei vier", "password"),
    ("Der Code für die Haustür ist 2580", "2580", "code"),
    ("Der Alarmcode lautet 9911", "9911", "code"),
    ("der Türcode ist 1234", "1234", "code"),
    ("Ich habe mein Passwort auf katze99 geändert", "katze99", "password"),
    ("Die Zahlenkombination ist 12-34-56", "12-34-56", "code"),
    ("Dein Bestätigungscode ist 482913", "482913", "code"),
    ("katze99 ist mein Passwort", "katze99", "password"),
    ("la contraseña es girasol", "girasol", "password"),
    ("la contraseña del wifi es sol2024", "sol2024", "password"),
    ("Mi clave es gato99", "gato99", "password"),
    ("mi PIN es 4821", "4821", "password"),
    ("mi pin es uno dos tres cuatro", "uno dos tres cuatro", "password"),
    ("El código de la alarma es 4711", "4711", "code"),
    ("el código de la puerta es 2580", "2580", "code"),
    ("Tu código de verificación es 482913", "482913", "code"),
    ("cambié la contraseña a gato77", "gato77", "password"),
    ("la combinación de la caja fuerte es 12-34-56", "12-34-56", "code"),
    ("le mot de passe c'est soleil", "soleil", "password"),
    ("Mon mot de passe est tournesol9", "tournesol9", "password"),
    ("le mot de passe du wifi est chat2024", "chat2024", "password"),
    ("le mdp du wifi c'est chaton", "chaton", "password"),
    ("mon code PIN est 4821", "4821", "password"),
    ("le code de la porte est 25B80", "25B80", "code"),
    ("Le code de l'alarme est 4711", "4711", "code"),
    ("Le digicode est 4711A", "4711A", "code"),
    ("ton code de vérification est 482913", "482913", "code"),
    ("Le code d'entrée est 1357", "1357", "code"),
    ("a senha é gato99", "gato99", "password"),
    ("minha senha do wifi é girassol", "girassol", "password"),
    ("A senha do Wi-Fi é girassol7", "girassol7", "password"),
    ("meu PIN é 4821", "4821", "password"),
    ("o código do alarme é 4711", "4711", "code"),
    ("o código da porta é 2580", "2580", "code"),
    ("seu código de verificação é 482913", "482913", "code"),
    ("mudei a senha para gato88", "gato88", "password"),
    ("我的密码是abc12345", "abc12345", "password"),
    ("wifi密码：sunflower", "sunflower", "password"),
    ("家里的wifi密码是 sun8888", "sun8888", "password"),
    ("密码是芝麻开门", "芝麻开门", "password"),
    ("我的银行卡密码是六位数 998877", "998877", "password"),
    ("验证码是 482913", "482913", "password"),
    ("验证码：482913", "482913", "password"),
    ("门禁密码是1234#", "1234#", "password"),
    ("门锁的密码是 778899，别忘了", "778899", "password"),
    ("我的PIN是4821", "4821", "password"),
    ("密码改成了kitty99", "kitty99", "password"),
    ("abc12345是我的密码", "abc12345", "password"),
    ("パスワードはhimitsu1です", "himitsu1", "password"),
    ("Wi-Fiのパスワードは sunflower88 です", "sunflower88", "password"),
    ("パスワードは「さくらもち」です", "さくらもち", "password"),
    ("パスワードはさくらもちです", "さくらもち", "password"),
    ("暗証番号は1234です", "1234", "password"),
    ("玄関の暗証番号は2580だよ", "2580", "password"),
    ("認証コードは482913です", "482913", "password"),
    ("ドアのコードは4711です", "4711", "password"),
    ("PINは4821です", "4821", "password"),
    ("himitsu1がパスワードです", "himitsu1", "password"),
    ("パスワードをneko99に変えました", "neko99", "password"),
    ("ワンタイムパスワードは 774 411 です", "774 411", "password"),
]  # fmt: skip

# They speak of secrets and give none away.
KEPT = [
    "The password must be at least 12 characters",
    "passwords should be longer than 8 characters",
    "the password is 12 characters long",
    "My PIN is 6 digits",
    "I changed my password yesterday",
    "my password expires in 30 days",
    "I forgot the code for the door",
    "the postal code for my town is 80331",
    "the area code for Berlin is 030",
    "the code for my course is CS101",
    "the discount code for the shop is SAVE20",
    "the dress code is casual",
    "The code is 40 lines long",
    "Is the password stored as a hash?",
    "What is the wifi password?",
    "The key to success is practice",
    "Mein Passwort ist zu schwach",
    "Das Passwort muss mindestens 12 Zeichen haben",
    "Ich habe mein Passwort vergessen",
    "Das Passwort ist abgelaufen",
    "Das Passwort ist 12 Zeichen lang",
    "Die Postleitzahl ist 80331",
    "Der Code ist 40 Zeilen lang",
    "Meine PIN habe ich vergessen",
    "La contraseña debe tener al menos 12 caracteres",
    "La contraseña es demasiado corta",
    "la contraseña es obligatoria",
    "Olvidé mi contraseña",
    "el código postal es 28001",
    "el código de mi asignatura es 6001",
    "La clave es practicar",
    "Le mot de passe doit contenir au moins 12 caractères",
    "le mot de passe est trop court",
    "le mot de passe est obligatoire",
    "J'ai oublié mon mot de passe",
    "mon code postal est 75011",
    "A senha deve ter pelo menos 12 caracteres",
    "a senha é muito fraca",
    "Esqueci minha senha",
    "meu código postal é 1000",
    "密码必须至少12位",
    "密码是什么？",
    "密码是必填的",
    "密码是错的",
    "我忘记密码了",
    "密码不能少于8位",
    "邮政编码是100080",
    "パスワードは12文字以上にしてください",
    "パスワードは何ですか",
    "パスワードを忘れました",
    "パスワードは必須です",
    "パスワードは長いほうがいいです",
    "郵便番号は150-0001です",
    "Mi clave es la constancia",
    "the security code review is on Monday",
    "La parola d'ordine è crescere",
    "Introduce an error in your code to trigger a 500 error",
]


@pytest.mark.parametrize(("text", "secret", "kind"), SAID)
def test_a_secret_said_in_words_is_masked(text: str, secret: str, kind: str) -> None:
    masked = mask(text)
    assert secret not in masked.text
    assert MASK in masked.text
    assert masked.kinds == (kind,)


@pytest.mark.parametrize(("text", "secret", "kind"), SAID)
def test_it_is_found_among_other_sentences_too(text: str, secret: str, kind: str) -> None:
    masked = mask(f"OK, {text}. Ciao.")
    assert secret not in masked.text
    assert kind in masked.kinds
    assert mask(masked.text).text == masked.text


@pytest.mark.parametrize("text", KEPT)
def test_what_only_speaks_of_secrets_stays(text: str) -> None:
    assert mask(text).text == text
    assert mask(text).kinds == ()
