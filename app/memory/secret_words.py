"""Secrets said in words: "my PIN is …", "das Passwort lautet …", "密码是…" (M32). Pure.

What a secret is called and how it is given away, in the languages whose turns we keep as episodes;
as patterns, that `secrets` applies. Beside them what follows when none is given away ("is too
short", "必须…"): in doubt it is one.
"""

from __future__ import annotations

from typing import Final


def _any(*rows: str) -> str:
    return "(?:" + "|".join(rows) + ")"


PASSWORDS: Final = _any(
    r"pass ?(?:word|code|phrase)s?|pwd|pw|pins?(?:[ -]?(?:code|number))?|cvv|cvc2?|login code",
    r"(?:secret|private|api|access|encryption|recovery|licen[sc]e|wi-?fi|network|security|seed)"
    r"[ -]?(?:keys?|phrases?)",
    r"(?:api|access|auth|bearer|refresh|bot|session|secret) ?tokens?|seed (?:words|phrase)",
    r"\w{0,20}pass(?:wort|wörter)|\w{0,20}kennwort|geheim(?:zahl|nummer)|(?:wlan|wpa)-?schlüssel",
    r"contraseñas?|clave (?:secreta|privada|wifi)|código pin|frase de contraseña",
    r"mots? de passe|mdp|code (?:secret|pin)|phrase (?:secrète|de passe)",
    r"senhas?|palavra[- ](?:passe|chave)|wachtwoord|parola|hasło|пароль|пин-код|비밀번호",
)
_NAMED_PLACE: Final = (
    r"(?:alarm|door|gate|garage|lock|lockbox|safe|entry|access|security|unlock|building|vault"
    r"|key ?pad|voicemail|verification|otp|2fa|one[- ]time|auth\w*|confirmation|sms|backup|locker"
    r"|house|phone|login|sign[- ]in|card|bank|combination|reset|activation)(?:'s)?(?: \w+)? "
    r"(?:codes?|combinations?)"
)
# "the postal code for my town is …" is no secret.
_HARMLESS: Final = "".join(
    f"(?<!{word} )"
    for word in (
        *("postal", "zip", "area", "country", "dial", "dialling", "calling", "discount", "promo"),
        *("coupon", "voucher", "course", "product", "status", "error", "exit", "response", "hex"),
        *("colour", "color", "tax", "airport", "currency", "language"),
    )
)
_DE_CODE: Final = (
    r"\w{0,20}(?:tür|tor|alarm|zugangs|sicherheits|entsperr|freischalt|bestätigungs|prüf|zahlen"
    r"|safe|tresor|garagen|schloss|sms|einmal|anmelde)-?(?:code|kombination|pin)|s?m?s?-?tan"
    r"|(?:code|kombination) (?:für|fürs|zu|zum|zur|vom|von) (?:\w+ ){0,2}[\w-]{3,24}?"
)
_ES_PLACE: Final = (
    r"alarma|puerta|port[aó]n|garaje|caja fuerte|candado|entrada|edificio|portal|verificación"
    r"|seguridad|acceso|confirmación|desbloqueo|un solo uso|casa|taquilla"
)
_FR_PLACE: Final = (
    r"alarme|porte|portail|garage|coffre(?:-fort)?|cadenas|entrée|immeuble|vérification|sécurité"
    r"|accès|confirmation|déverrouillage|maison|casier|authentification"
)
_PT_PLACE: Final = (
    r"alarme|porta|portão|garagem|cofre|cadeado|entrada|prédio|verificação|segurança|acesso"
    r"|confirmação|desbloqueio|casa|cacifo|armário"
)
PLACES: Final = _any(
    _NAMED_PLACE,
    r"number (?:to|for|on) the (?:safe|lock|alarm|door|gate|vault)",
    r"otp|2fa|totp|(?<=your )code|(?<=my )code|(?<=the )combination",
    _DE_CODE,
    rf"(?:código|clave|combinación) (?:de|del|para) (?:la |el |mi |nuestra )?(?:{_ES_PLACE})",
    rf"(?:code|combinaison) (?:d['’e]|du|de la|de l['’]|pour) ?(?:la |le |l['’]|mon |ma )?"
    rf"(?:{_FR_PLACE})|digicode",
    rf"(?:código|combinação) (?:de|do|da|para) (?:o |a |meu |minha )?(?:{_PT_PLACE})",
)
CODES: Final = _any(
    PLACES,
    rf"{_HARMLESS}(?:codes?|combinations?|combo|pin) (?:to|for|of|on) "
    r"(?:the |my |our |his |her |their )?(?!\d)[\w'’ -]{2,40}?",
)
_IS: Final = (
    r"(?:\s*(?:=|:|->|=>|：)\s*|['’]s\s+|\s*(?:은|는)\s*|,?\s+c['’]est\s+"
    r"|\s+(?:is|are|was|be|ist|war|lautet|heißt|es|era|est|reste|é|eh|jest|to|as|=):?\s+)"
)
_STILL: Final = (
    r"(?:(?:now|still|currently|just|simply|set to|called|again|also|jetzt|nun|noch|immer noch"
    r"|einfach|übrigens|weiterhin|ahora|todavía|maintenant|toujours|agora|ainda)\s+)*"
)
_OF: Final = (
    r"(?:\s(?:to|for|of|on|für|fürs|vom|von|zum|zur|des|der|de|del|da|do|du|pour|para|d['’]"
    r"|au|à|meiner|meines|unserer|unseres)\s?[\w'’ -]{2,40}?)?"
)
# What follows "the password is" when none is given away.
_NOT_ONE: Final = _any(
    r"too|not|no|required|needed|wrong|incorrect|invalid|weak|strong|expired|stored|hashed"
    r"|saved|encrypted|the|an?|in|on|being|never|always|very|so|really|hard|easy|long|short|missing"
    r"|empty|lost|correct|right|safe|secure|that|what|where|how|when|if|for|to|from|my|your|our|his"
    r"|her|their|it|this|kept|checked|sent|rotated|changed|reset|used|managed|different|unique|good"
    r"|bad|ok|okay|fine|gone|working|and|or|but|of|with|by|at|optional|mandatory|something"
    r"|now|still|currently|just|simply|called|again|also|somewhere|longer|shorter|only|supposed|going|about|case-sensitive|out|here|there|who|why",
    r"zu|nicht|kein\w*|falsch|richtig|sicher|unsicher|schwach|stark|lang|kurz|länger|leer|weg"
    r"|abgelaufen|gesperrt|geändert|gespeichert|vergessen|erforderlich|nötig|sehr|ein\w*|das|der"
    r"|die|im|in|auf|für|mein\w*|dein\w*|wichtig|optional|verschlüsselt|unbekannt|bekannt|schwer"
    r"|jetzt|nun|noch|immer|einfach|übrigens|weiterhin|wie|was|wo|dass",
    r"muy|demasiado|incorrect[oa]|correct[oa]|débil|fuerte|segur[oa]|inválid[oa]|obligatori[oa]"
    r"|opcional|necesari[oa]|larg[oa]|cort[oa]|un[oa]?|el|la|que|lo|difícil|fácil|important[e]"
    r"|mi|tu|su|para|de|por|más|important\w*|distint[oa]|nuev[oa]|antigu[oa]|ahora|todavía|siempre|cómo|cuál",
    r"trop|pas|incorrecte?|correcte?|faible|forte?|expirée?|invalide|obligatoire|requise?|perdue?"
    r"|longue?|courte?|une?|le|les|dans|très|plus|sûre?|difficile|facile|bonn?e?|mauvaise?"
    r"|nécessaire|facultatif|oubliée?|même|toujours|maintenant|à|en|sur|stockée?|chiffrée?",
    r"muito|muita|fraca?|incorret[oa]|corret[oa]|inválid[oa]|obrigatóri[oa]|necessári[oa]|um|uma"
    r"|o|os|não|mais|no|na|difícil|segur[oa]|long[oa]|curt[oa]|errad[oa]|expirad[oa]|diferente|agora|ainda|sempre|qual",
    r"\[secret\]",
)
_ENDS: Final = r"(?![\w'-])"
_SIZED: Final = (
    r"(?!\d+\s?(?:%|chars?|characters?|digits?|bits?|bytes?|letters?|words?|years?|months?|days?"
    r"|weeks?|hours?|minutes?|times?|lines?|zeichen|stellen|ziffern|stellig\w*|tage?|jahre?"
    r"|caracteres|dígitos|caractères|chiffres|días|jours|dias)(?!\w))"
)
# A word that no list above holds; a digit's name; digits.
WORD: Final = (
    rf"(?!{_NOT_ONE}{_ENDS}){_SIZED}[^\s,;。，；]{{3,100}}?(?=[.!?»”\"]?(?:[\s,;。，；]|$))"
)
_DIGIT_WORD: Final = _any(
    r"zero|oh|one|two|three|four|five|six|seven|eight|nine",
    r"null|eins|zwei|zwo|drei|vier|fünf|sechs|sieben|acht|neun",
    r"cero|uno|dos|tres|cuatro|cinco|seis|siete|ocho|nueve",
    r"zéro|un|deux|trois|quatre|cinq|six|sept|huit|neuf",
    r"um|dois|três|quatro|sete|oito|nove",
)
DIGITS: Final = (
    rf"{_SIZED}(?:#?\d(?:[ -]?[\d#*]){{2,11}}(?:[A-Z](?!\w))?|(?:{_DIGIT_WORD}[ ,-]{{0,2}}){{3,12}}"
    rf"(?!\w))"
)
DIGITS_AND_LETTERS: Final = rf"{DIGITS}|{_SIZED}\d[\dA-Z#*-]{{2,9}}(?!\w)"
PHRASES: Final = r"pass ?phrases?|seed (?:phrase|words)|recovery phrases?|phrase de passe"
PHRASE: Final = r"[^.!?\n]{4,200}"
# Something with a digit in it, where the words around it alone could mean anything.
WITH_DIGIT: Final = r"(?=\S{0,60}\d)[^\s,;.]{4,60}"
_GIVEN: Final = rf"(?P<secret>{WITH_DIGIT})"
KEYS: Final = r"clave|chave|clé"
_MY: Final = (
    r"(?:my|our|the|your|meine?|unsere?|das|die|mi|nuestra|la|el|mon|notre|le|minha|meu|nossa|a|o)"
)


def said(names: str, value: str) -> str:
    """A secret named in a sentence: "my … (for the …) is …"."""
    return (
        rf"(?<![A-Za-z0-9_])(?:\w{{2,20}}-)?(?:{names}){_OF}{_IS}{_STILL}[\"'“‘`«„]?"
        rf"(?P<secret>{value})"
    )


NAMED: Final = rf"(?<![\w-]){_MY}\s+(?:[\w-]+\s+)?(?:{PASSWORDS})\s+{_GIVEN}"
# "Ich habe mein Passwort auf … geändert", "cambié la contraseña a …"
CHANGED: Final = rf"(?<!\w)(?:{PASSWORDS}){_OF}\s+(?:auf|zu|in|a|por|en|pour|par|para)\s+{_GIVEN}"
BEFORE: Final = (
    r"(?<!\S)(?P<secret>(?=\S{0,60}\d)[^\s,;]{4,60})\s+(?:is|as|for|ist|als|es|como|est|comme|é)"
    rf"\s+{_MY}\s+(?:[\w-]+\s+){{0,3}}?(?:{PASSWORDS}|(?:[\w-]+ )?code)(?!\w)"
)
NAMED_CODE: Final = (
    rf"(?<![\w-])(?:{PLACES}|pass ?codes?|pins?(?: code| number)?|passw(?:or)?d|pw|passwort"
    r"|cvv|cvc2?|(?:use|enter|type)(?: the| this)? code)\s+(?P<secret>\d(?:[ -]?\d){2,9})(?![\w])"
)

# Chinese and Japanese: no spaces, so a value ends where its script or the sentence does.
_CJK_NAMES: Final = _any(
    r"密码|密碼|口令|パスワード|暗証番号|パスコード|パスフレーズ|ピンコード|合言葉|門禁碼",
    r"(?:验证|驗證|动态|解锁|安全|门禁|取件|开门|校验)码",
    r"(?:認証|確認|解除|セキュリティ|ドア|アラーム|ロック|開錠)の?(?:コード|番号)",
    r"(?:pin|PIN|Pin)(?:码|碼|コード|番号)?(?=\s*[是は为為])",
)
_CJK_IS: Final = (
    r"\s*(?:就|还|現在|现在|也|一直)?\s*"
    r"(?:是|为|為|は|:|：|=|设成了?|设为|改成了?|換成了?|换成了?)\s*"
    r"(?:[一二三四五六七八九十\d]+位数?字?\s*)?"  # "a number of six digits"
)
_CJK_SIZE: Final = r"(?![\d~〜-]+\s*(?:文字|桁|位|个|個|字|次|回|分|天|日|月|年|か月|种|種|ヶ))"
_CJK_VALUE: Final = _any(
    r"(?<=[「『“\"'])[^」』”\"']{2,60}",
    r"[!-)+-~]{3,60}(?=です|だ|。|，|、|,|！|!|\s|[^!-~]|$)",
    r"[〇零一二三四五六七八九]{4,12}",
)
# A word in Chinese or Japanese; not what is said about a password.
_ZH_WORD: Final = (
    r"(?!什么|什麼|多少|哪|必|错|錯|对|對|正确|正確|需|由|用|不|很|太|我|你|他|她|可|加密|保密|随机"
    r"|指|为|一|存|谁|如|否|怎|安全|空|无|有|新|旧|老|最|随|同|相|明文|自动|系统|默认|保|至|非|要|没"
    r"|重要|什|在|从|已|个|這|这|那|为了)[一-鿿]{2,12}(?=[。，！,!.\s]|$)"
)
_JA_WORD: Final = (
    r"(?!何|な[にんぜ]|誰|必|忘|長|短|弱|強|間違|正し|変|安全|大文字|小文字|英数字|不要|同じ|定期|秘密"
    r"|大切|大事|重要|無|有|まだ|もう|これ|それ|あれ|どこ|どう|いつ|私|別|違|複雑|簡単|暗号|自動|設定"
    r"|毎)[ぁ-んァ-ヶー一-鿿]{2,16}?(?=です|だよ|だった|である)"
)
_CJK_QUOTE: Final = r"[「『“\"']?"
CJK: Final = (
    rf"{_CJK_NAMES}{_CJK_IS}{_CJK_SIZE}{_CJK_QUOTE}"
    rf"(?P<secret>{_CJK_VALUE}|{_ZH_WORD}|{_JA_WORD})"
)
CJK_CHANGED: Final = r"(?:パスワード|暗証番号)を\s*[「『]?(?P<secret>[!-~]{3,60})[」』]?\s*に"
CJK_BEFORE: Final = rf"(?P<secret>(?=\S{{0,40}}\d)[!-~]{{4,60}})\s*(?:是|が)[我家的の]*{_CJK_NAMES}"
