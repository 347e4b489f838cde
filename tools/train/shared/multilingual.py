"""Messages with made-up private details, and clean texts, in fifteen languages; templates in models/training/messages_multilingual.txt and the files beside it.

Details are of Faker and other lists (name_lists.py), of the language's own countries, now and then of another one. A twelfth of the names, and a tenth of the templates, are held out.
"""

import functools
import gettext
import json
import random
import re
import string
import tarfile
import unicodedata
from dataclasses import dataclass, field

from faker import Faker

from shared.details import part_of
from shared.messages import Message, SLOT, joined
from shared.name_lists import in_kana, japanese_address, japanese_firsts, japanese_lasts, towns
from shared.templates import expanded, is_held_out, read_lines, word_lists
from shared.texts import part_of as text_part, read_squad, sentences

TYPES = ("PER", "ORG", "LOC", "BIRTH_DATE", "EMAIL", "PHONE", "LINK", "CARD", "IBAN", "ID")
LABELS = ("O", *(f"{prefix}-{kind}" for kind in TYPES for prefix in "BI"))
KIND_OF = {"FIRST": "PER", "LAST": "PER", "FULL": "PER", "OBL": "PER", "NICK": "PER", "KANA": "PER", "FOREIGN": "PER", "ORG": "ORG", "CITY": "LOC", "STREET": "LOC", "ADDR": "LOC", "BIRTH": "BIRTH_DATE",
           "PHONE": "PHONE", "EMAIL": "EMAIL", "IBAN": "IBAN", "ID": "ID"}  # the others, DATE, NUM and THING, are not private
DRAWN = {"FIRST": 900, "LAST": 900, "ORG": 150, "CITY": 300, "STREET": 300, "ADDR": 400, "PHONE": 300}
IDEOGRAPHIC = ("zh", "ja", "ko")
FOREIGN = 0.08  # share of the names that are of another country
OWN = 0.5  # share of the names that are of the language's own lists, where it has some
FILES = ("messages_multilingual.txt", "messages_more.txt", "messages_clean.txt")
WORD_LISTS = ("cities", "roads", "districts", "nicknames", "foreign", "firsts", "surnames", "givens")
ENDINGS = {"ru": (("а", ("ы", "е", "у", "ой")), ("я", ("и", "е", "ю", "ей")), ("й", ("я", "ю", "ем")), ("", ("а", "у", "ом", "е"))),
           "pl": (("a", ("y", "ę", "ą", "ie", "i")), ("i", ("iego", "iemu", "im")), ("", ("a", "owi", "em")))}
DEVANAGARI = str.maketrans("0123456789", "०१२३४५६७८९")


@dataclass
class Language:
    code: str
    locales: list
    weights: list
    lines: dict = field(default_factory=lambda: {"detailed": [], "clean": []})  # and names and forms of places


@functools.cache
def languages():
    """{code: Language} of the files of templates."""
    found = {}
    for line in (line for file in FILES for line in read_lines(file)):
        if line.startswith("=== "):
            code, *weighted = line[4:].split()
            section = "detailed"
            if code in found:
                language = found[code]
                continue
            pairs = [one.split(":") for one in weighted]
            language = found[code] = Language(code, [pair[0] for pair in pairs], [int(pair[1]) for pair in pairs])
        elif line.startswith("--- "):
            section = line[4:]
        else:
            language.lines.setdefault(section, []).extend([one.replace("_", " ") for one in line.split()] if section in WORD_LISTS else [line.replace("\\n", "\n")])
    return found


@functools.cache
def things(code, part):
    """Words for things that are not names, of one part."""
    return [word for word in word_lists("things.txt")[code] if part_of(word.encode("unicode_escape").decode()) == part]


@functools.cache
def drawn(locale):
    """{slot: details} of a locale of Faker, each kept once."""
    fake = Faker(locale)
    fake.seed_instance(7)
    make = {"FIRST": fake.first_name, "LAST": fake.last_name, "ORG": fake.company, "CITY": fake.city, "STREET": fake.street_address, "ADDR": fake.address,
            "PHONE": fake.phone_number}
    found = {slot: {make[slot]().replace("\n", ", ") for _ in range(count)} for slot, count in DRAWN.items()}
    return {slot: sorted(text for text in texts if unicodedata.category(text[0])[0] != "M") for slot, texts in found.items()}


def digits(rng, count):
    return "".join(rng.choice(string.digits) for _ in range(count))


def asciified(text):
    return unicodedata.normalize("NFKD", text).encode("ascii", "ignore").decode()


def numbered(form, rng):
    """The form with a number in place of each {1-90}."""
    return re.sub(r"\{(\d+)-(\d+)\}", lambda match: str(rng.randint(int(match[1]), int(match[2]))), form)


class Drawer:
    """Details of one language; names of one part, 'train' or 'dev'."""

    def __init__(self, language, part, rng):
        self.language, self.code, self.part, self.rng = language, language.code, part, rng

    def listed(self, section):
        return self.language.lines.get(section, [])

    def of(self, slot):
        while slot in ("FIRST", "LAST"):
            name = self.one_name(slot)
            key = asciified(name).strip() or name.encode("unicode_escape").decode()
            if part_of(key) == self.part:
                return name
        locale = self.rng.choices(self.language.locales, self.language.weights)[0]
        return self.rng.choice(drawn(locale)[slot])

    def one_name(self, slot):
        """A first or last name: of another country, of the language's own lists, or Faker's."""
        locale, chance = self.rng.choices(self.language.locales, self.language.weights)[0], self.rng.random()
        if chance < FOREIGN:
            if self.listed("foreign") and chance < 0.7 * FOREIGN:
                return self.rng.choice(self.listed("foreign"))
            latin = ("de_DE", "fr_FR", "es_ES", "it_IT", "pl_PL", "tr_TR", "en_US", "nl_NL", "pt_BR", "en_IN")
            locale = self.rng.choice(latin) if locale[:2] not in IDEOGRAPHIC else "en_US"
        elif chance < FOREIGN + OWN and (name := self.own_name(slot)):
            return name
        return self.rng.choice(drawn(locale)[slot])

    def own_name(self, slot):
        """Draws a name from the language's own lists, or makes one of syllables. Returns None for a language without lists."""
        if self.code == "ja":
            name, kana = self.rng.choice(japanese_firsts() if slot == "FIRST" else japanese_lasts())
            return in_kana(kana, self.rng) if self.rng.random() < 0.15 else name
        if slot == "FIRST" and (syllables := self.listed("givens")):
            return self.rng.choice(syllables) + self.rng.choice(syllables if self.code == "ko" or self.rng.random() < 0.75 else [""])
        names = self.listed("firsts" if slot == "FIRST" else "surnames")
        if slot == "FIRST" and self.code not in IDEOGRAPHIC and self.rng.random() < 0.2:
            names = self.listed("nicknames")
        return self.rng.choice(names) if names else None

    def nick(self):
        rng = self.rng
        if self.code == "ja":
            name, kana = rng.choice(japanese_firsts())
            return rng.choice([name, in_kana(kana, rng), in_kana(kana[:2], rng)]) + rng.choice(["ちゃん", "ちゃん", "くん", "君", "っち", "たん"])
        if self.code == "zh":
            last, given = self.last()[0], rng.choice(self.listed("givens"))
            return rng.choice(["小" + last, "老" + last, "阿" + given, "小" + given, given + given, given + rng.choice("哥姐妹爷叔儿"), last + rng.choice("姐哥总工")])
        return rng.choice(self.listed("nicknames")) if self.listed("nicknames") else self.first()

    def kana(self):
        first, last = (in_kana(rng_pair[1], self.rng) for rng_pair in (self.rng.choice(japanese_firsts()), self.rng.choice(japanese_lasts())))
        return self.rng.choice([first, first, last, f"{last} {first}", last + first])

    def foreign(self):
        return self.rng.choice(self.listed("foreign"))

    def first(self):
        return self.of("FIRST")

    def last(self):
        return self.of("LAST")

    def full(self):
        first, last = self.first(), self.last()
        if self.code in IDEOGRAPHIC and first[0] > "\u2e80" and last[0] > "\u2e80":
            return last + self.rng.choice(["", "", " "] if self.code == "ja" else ["", "", "", " "] if self.code == "ko" else [""]) + first
        if self.rng.random() < 0.05 and self.code not in ("ar", "hi"):
            return f"{last} {first}"
        return f"{first} {last}"

    def obl(self):
        words = self.rng.choice([self.first, self.full])().split()
        for index, word in enumerate(words):
            for ending, others in ENDINGS[self.code]:
                if word.endswith(ending):
                    words[index] = word[:len(word) - len(ending)] + self.rng.choice(others)
                    break
        return " ".join(words)

    def place(self, section, slot, own):
        """A real place or a form of one (always in scripts whose addresses Faker makes of English words), or Faker's."""
        lines = self.language.lines
        if self.rng.random() >= own:
            return re.sub(r"\s+", " ", self.of(slot))
        form = self.rng.choice(lines[section])
        for name, values in (("city", "cities"), ("road", "roads"), ("district", "districts")):
            form = form.replace("{" + name + "}", self.rng.choice(lines.get(values, [""]) if self.rng.random() < 0.5 else self.place_names(name)))
        form = re.sub(r"\{letter\}", lambda _: self.rng.choice(string.ascii_uppercase[:12]), form)
        return numbered(form, self.rng)

    def place_names(self, kind):
        """Towns of the language's countries, of which many roads are named; in Hindi also names of persons."""
        if kind == "road" and self.code == "hi":
            ending = self.rng.choice(["मार्ग", "रोड", "नगर", "चौक", "कॉलोनी", "गली", "विहार", "पथ"])
            return [f"{self.rng.choice(self.listed('firsts') + self.listed('surnames') + towns('hi'))} {ending}"]
        if kind == "city" or self.code in ("zh", "ja", "hi"):
            return towns(self.code)
        return self.language.lines.get({"road": "roads", "district": "districts"}[kind], [""])

    def street(self):
        return self.place("streets", "STREET", 1 if self.code in ("zh", "ja", "ar", "ko") else 0.4)

    def addr(self):
        if self.code == "ja" and self.rng.random() < 0.5:
            return japanese_address(self.rng)
        return self.place("addresses", "ADDR", 1 if self.code in ("zh", "ar") else 0.4)

    def city(self):
        if self.rng.random() < 0.5:
            return self.rng.choice(towns(self.code))
        return self.place("cities", "CITY", 1 if self.code in ("zh", "ar") else 0.5)

    def org(self):
        return self.of("ORG")

    def phone(self):
        text = self.of("PHONE")
        return text.translate(DEVANAGARI) if self.code == "hi" and self.rng.random() < 0.2 else text

    def email(self):
        user = [asciified(name).lower().replace(" ", "") for name in (self.first(), self.last())]
        user = [name for name in user if name.isalnum()] or ["info", digits(self.rng, 3)]
        host = self.rng.choice(["gmail.com", "example.com", "mail.ru", "web.de", "qq.com", "outlook.com", "firma.de", "posta.it", "yahoo.co.jp", "naver.com", "free.fr"])
        return self.rng.choice([".", "", "_"]).join(user) + self.rng.choice(["", "", str(self.rng.randint(1, 99))]) + "@" + host

    def iban(self):
        code = self.rng.choice(["DE", "FR", "ES", "IT", "PT", "NL", "PL", "TR", "SA"]) + digits(self.rng, self.rng.choice([20, 22, 24]))
        return code if self.rng.random() < 0.4 else " ".join(code[start:start + 4] for start in range(0, len(code), 4))

    def id(self):
        rng = self.rng
        letters = "".join(rng.choice(string.ascii_uppercase) for _ in range(rng.choice([0, 0, 1, 2, 3])))
        text = letters + digits(rng, rng.choice([6, 7, 8, 9, 10, 11, 12, 18]))
        return rng.choice([text, text, text[:4] + " " + text[4:], text[:6] + "-" + text[6:], text + rng.choice(string.ascii_uppercase)])

    def num(self):
        rng = self.rng
        return rng.choice([f"#{digits(rng, 5)}", f"{rng.randint(1, 9)}.{rng.randint(0, 20)}", digits(rng, rng.choice([4, 5, 6])), f"A-{digits(rng, 4)}", f"{rng.randint(1, 9)}.{rng.randint(0, 9)}.{rng.randint(0, 9)}"])

    def thing(self):
        return self.rng.choice(things(self.code, self.part))

    def date(self):
        day, month, year = self.rng.randint(1, 28), self.rng.randint(1, 12), self.rng.randint(1940, 2026)
        if self.code in IDEOGRAPHIC and self.rng.random() < 0.7:
            return f"{year}년 {month}월 {day}일" if self.code == "ko" else f"{year}年{month}月{day}日"
        forms = [f"{day}.{month}.{year}", f"{day:02}.{month:02}.{year}", f"{day:02}/{month:02}/{year}", f"{year}-{month:02}-{day:02}", f"{day}-{month}-{year}"]
        if self.code in MONTHS:
            name = MONTHS[self.code][month - 1]
            forms += [f"{day}{self.rng.choice(DAY_MARKS.get(self.code, ['']))} {name} {year}".replace("  ", " ")] * 3
        return self.rng.choice(forms)

    birth = date

    def name(self):
        return self.rng.choices(["FIRST", "FULL", "LAST"], (1, 8, 2) if self.code in IDEOGRAPHIC else (8, 8, 1))[0]


MONTHS = {code: names.split() for code, names in {
    "de": "Januar Februar März April Mai Juni Juli August September Oktober November Dezember",
    "fr": "janvier février mars avril mai juin juillet août septembre octobre novembre décembre",
    "es": "enero febrero marzo abril mayo junio julio agosto septiembre octubre noviembre diciembre",
    "it": "gennaio febbraio marzo aprile maggio giugno luglio agosto settembre ottobre novembre dicembre",
    "pt": "janeiro fevereiro março abril maio junho julho agosto setembro outubro novembro dezembro",
    "nl": "januari februari maart april mei juni juli augustus september oktober november december",
    "pl": "stycznia lutego marca kwietnia maja czerwca lipca sierpnia września października listopada grudnia",
    "tr": "Ocak Şubat Mart Nisan Mayıs Haziran Temmuz Ağustos Eylül Ekim Kasım Aralık",
    "ru": "января февраля марта апреля мая июня июля августа сентября октября ноября декабря",
    "ar": "يناير فبراير مارس أبريل مايو يونيو يوليو أغسطس سبتمبر أكتوبر نوفمبر ديسمبر",
    "hi": "जनवरी फरवरी मार्च अप्रैल मई जून जुलाई अगस्त सितंबर अक्टूबर नवंबर दिसंबर",
    "en": "January February March April May June July August September October November December"}.items()}
DAY_MARKS = {"de": ["."], "es": [" de", ""], "pt": [" de"]}


def filled(template, drawer):
    """A message: every slot with a detail in it."""
    text, spans, at = "", [], 0
    for match in SLOT.finditer(template):
        text += template[at:match.start()]
        at, slot = match.end(), match[1]
        slot = drawer.name() if slot == "NAME" else slot
        value = getattr(drawer, slot.lower())().strip()
        if slot == "THING" and not text and drawer.rng.random() < 0.7:
            value = value[0].upper() + value[1:]
        if kind := KIND_OF.get(slot):
            spans.append((len(text), len(text) + len(value), kind))
        text += value
    return Message(text + template[at:], spans, spans)


def recased(message, rng):
    """The message as it is, or in small letters, in capitals, or without accents, as people write in a hurry."""
    chance, text = rng.random(), message.text
    text = text.lower() if chance < 0.1 else text.upper() if chance < 0.13 else text
    if 0.13 < chance < 0.18:
        text = "".join(char if char > "\u024f" else asciified(char) or char for char in text)
    return message if len(text) != len(message.text) else Message(text, message.spans, message.slots)


class Maker:
    """Messages of one language. `plain` are real sentences, shown beside those of the templates."""

    def __init__(self, code, part, rng, plain=()):
        language = languages()[code]
        kept = {name: [line for line in language.lines[name] if is_held_out(line) == (part == "dev")] for name in ("detailed", "clean")}
        self.detailed_lines, self.clean_lines = kept["detailed"], kept["clean"] or language.lines["clean"]
        self.rng, self.plain, self.drawer = rng, plain, Drawer(language, part, rng)
        self.space = "" if code in ("zh", "ja") else " "

    def body(self):
        if self.plain and self.rng.random() < 0.45:
            return Message(self.rng.choice(self.plain), [], [])
        return self.from_line(self.clean_lines)

    def from_line(self, lines):
        return filled(numbered(expanded(self.rng.choice(lines), self.rng), self.rng), self.drawer)

    def ordinary(self):
        return recased(joined([self.body() for _ in range(self.rng.choice((1, 1, 2, 3)))], self.space), self.rng)

    def detailed(self):
        parts = [self.from_line(self.detailed_lines)]
        while self.rng.random() < 0.4 and len(parts) < 4:
            other = self.body() if self.rng.random() < 0.55 else self.from_line(self.detailed_lines)
            parts.insert(self.rng.randint(0, len(parts)), other)
        return recased(joined(parts, self.rng.choice([self.space, self.space, "\n"])), self.rng)


def translated_strings(folder, code):
    """Sentences of the translations of installed programs (gettext): no names, no marks of formatting."""
    names = {"zh": ["zh_CN"], "pt": ["pt_BR", "pt"]}.get(code, [code])
    found = set()
    for path in (path for name in names for path in sorted((folder / name).rglob("*.mo"))):
        try:
            catalogue = gettext.GNUTranslations(path.open("rb"))._catalog
        except (OSError, UnicodeDecodeError, ValueError):
            continue
        found.update(text for text in catalogue.values() if isinstance(text, str))
    least = 8 if code in IDEOGRAPHIC else 25
    kept = [re.sub(r"\s+", " ", text).strip() for text in found if least <= len(text) < 220 and not re.search(r"Copyright|[%@<>{}\\|_$=*&~^`\[\]/]|--|http", text)]
    return sorted(text for text in set(kept) if code in ("zh", "ja") or text.count(" ") >= 3)


def prose(data_dir, code):
    """Sentences of articles; they have names, and nobody has marked them."""
    rows = []
    if code in ("ar", "de", "en", "es", "hi", "ru", "tr", "zh"):
        rows = read_squad(data_dir / "xquad" / f"xquad.{code}-halfA.json.gz")
    if code == "zh":
        rows += read_squad(data_dir / "cmrc2018" / "cmrc2018-dev-halfA.json.gz")
    if code == "ja":
        rows = read_squad(data_dir / "jaquad" / "jaquad-train.json.xz")
    contexts = list(dict.fromkeys(row["context"] for row in rows))[:1500]
    ending = r"(?<=[。！？])" if code in ("zh", "ja") else r"(?<=[.!?।؟])\s+"
    return [part.strip() for text in contexts for part in re.split(ending, text) if 10 < len(part) < 260] + declaration(data_dir, code)


def declaration(data_dir, code):
    """Sentences of the Universal Declaration of Human Rights."""
    file = {"de": "deu", "fr": "fra", "es": "spa", "it": "ita", "pt": "por_BR", "nl": "nld", "pl": "pol", "tr": "tur", "ru": "rus", "ar": "arb",
            "hi": "hin", "zh": "cmn_hans", "ja": "jpn", "ko": "kor", "en": "eng"}[code]
    with tarfile.open(data_dir / "unicode" / "udhr.tar.xz") as archive:
        member = next((one for one in archive.getmembers() if one.name.endswith(f"_{file}.txt") or one.name.endswith(f"/{file}.txt")), None)
        text = archive.extractfile(member).read().decode() if member else ""
    return [line.strip() for line in text.split("\n") if 25 <= len(line.strip()) < 260]
