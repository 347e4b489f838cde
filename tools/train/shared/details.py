"""Made-up private details of thirty countries: names, addresses, companies, dates, amounts, numbers (by the library Faker).

Names of persons, towns and companies are for training or held out, by their last word.
"""

import functools
import hashlib
import random
import re
import string
import unicodedata

from faker import Faker

from shared.date_rules import DAYS, MONTHS, SHORT_MONTHS
from shared.templates import word_lists

# The weight of each country in a draw. Other scripts than Latin are left out: the vocabulary lacks their words.
LOCALES = {
    "en_US": 6, "en_GB": 5, "en_IN": 3, "en_NZ": 1, "en_CA": 1, "de_DE": 3, "fr_FR": 3, "es_ES": 3, "es_MX": 1, "it_IT": 3, "nl_NL": 2,
    "pt_BR": 2, "pt_PT": 1, "pl_PL": 2, "sv_SE": 2, "da_DK": 1, "no_NO": 1, "fi_FI": 1, "cs_CZ": 1, "hr_HR": 1, "hu_HU": 1, "ro_RO": 1,
    "tr_TR": 2, "id_ID": 1, "vi_VN": 1, "yo_NG": 1, "zu_ZA": 1, "ga_IE": 1, "ja_JP": 2, "zh_CN": 2, "ko_KR": 1}
# First and last names that Faker has only in their own scripts, in the usual spellings; places, parts of companies, and more.
WORDS = word_lists("words.txt")
ROMAN = {locale: (WORDS[f"{locale}_first"], WORDS.get(f"{locale}_last", [])) for locale in ("ja_JP", "zh_CN", "ko_KR", "ar", "he", "ru", "el", "short")}
CITIES, COUNTRIES = WORDS["cities"], WORDS["countries"]
IBANS = [("DE", 22), ("GB", 22), ("FR", 27), ("ES", 24), ("NL", 18), ("CH", 21), ("IT", 27), ("AT", 20), ("BE", 16), ("PL", 28), ("SE", 24)]
PLAIN_WORDS = set(WORDS["plain_words"])  # names that are the usual word far more often, in lower case


def part_of(name):
    """'dev' for a twelfth of the names, else 'train'; by the last word, without accents."""
    plain = unicodedata.normalize("NFKD", name.split()[-1].lower()).encode("ascii", "ignore")
    return "train" if hashlib.sha256(plain).digest()[0] % 12 else "dev"


def is_latin(text):
    return all(ord(char) < 0x250 or 0x1e00 <= ord(char) < 0x1f00 for char in text)


@functools.cache
def drawn_names():
    """{locale: (first names, last names, towns, companies)} of Faker, each drawn some hundred times and kept once."""
    found = {}
    for locale in LOCALES:
        if locale in ROMAN:
            continue
        fake = Faker(locale)
        fake.seed_instance(7)
        columns = []
        for make, count in ((fake.first_name, 900), (fake.last_name, 900), (fake.city, 250), (fake.company, 120)):
            drawn = {make(): None for _ in range(count)}
            columns.append([name for name in drawn if is_latin(name) and len(name) > 1])
        found[locale] = columns
    return found


class Details:
    """Draws details of every kind; names only of one part ('train', 'dev', 'test', or None for all)."""

    def __init__(self, part, rng):
        self.rng, self.part = rng, part
        found = {locale: columns for locale, columns in drawn_names().items() if any(columns[:2])}
        for locale, (first, last) in ROMAN.items():
            found[locale] = [first, last, [], []]
        everywhere = set(ROMAN["short"][0])  # too usual to be held out
        self.weights = [LOCALES.get(locale, 8 if locale == "short" else 1) for locale in found]
        self.columns = [[self.kept(names, everywhere if part == "train" else ()) for names in columns] for columns in found.values()]
        self.cities, self.countries, self.heads = self.kept(CITIES), self.kept(COUNTRIES), self.kept(WORDS["company_heads"])

    def kept(self, names, always=()):
        return [name for name in names if self.part is None or part_of(name) == self.part or name in always]

    def column(self, kind):
        while True:
            names = self.rng.choices(self.columns, self.weights)[0][kind]
            if names:
                return names

    def first(self):
        name = self.rng.choice(self.column(0))
        if self.rng.random() < 0.03:
            name += self.rng.choice(["-", " "]) + self.rng.choice(self.column(0))
        return name

    def last(self):
        rng = self.rng
        name = rng.choice(self.column(1))
        chance = rng.random()
        if chance < 0.03:
            return f"{name}-{rng.choice(self.column(1))}"
        if chance < 0.06:
            return rng.choice(["van ", "de ", "van der ", "von ", "O'", "O'", "D'", "Mc", "Mac", "El ", "El-", "Al-", "Al-", "al-", "da ", "bin ", "ben "]) + name
        return name

    def full(self):
        columns = self.rng.choices(self.columns, self.weights)[0]
        while not (columns[0] and columns[1]):
            columns = self.rng.choices(self.columns, self.weights)[0]
        mixed = self.rng.random() < 0.25
        first = self.first() if mixed else self.rng.choice(columns[0])
        last = self.last() if mixed or self.rng.random() < 0.1 else self.rng.choice(columns[1])
        middle = f" {self.rng.choice(string.ascii_uppercase)}." if self.rng.random() < 0.05 else ""
        return f"{first}{middle} {last}"

    def turned(self):
        return f"{self.last()}, {self.first()}"

    def short(self):
        initial = self.rng.choice(string.ascii_uppercase)
        return self.rng.choice([f"{initial}. {self.last()}", f"{initial} {self.last()}", f"{self.first()} {initial}."])

    def city(self):
        if self.rng.random() < 0.6:
            return self.rng.choice(self.cities)
        return self.rng.choice(self.column(2))

    def country(self):
        return self.rng.choice(self.countries)

    def org(self):
        rng, chance = self.rng, self.rng.random()
        if chance < 0.35:
            return rng.choice(self.column(3))
        kind = rng.choice(WORDS["company_kinds"]) + rng.choice(WORDS["company_forms"])
        if chance < 0.75:
            return f"{rng.choice(self.heads)} {kind}"
        if chance < 0.85:
            return f"{self.last()} {kind}"
        if chance < 0.93:
            return f"{rng.choice(['University of', 'Bank of', 'Museum of', 'City of'])} {rng.choice(self.cities)}"
        return "".join(rng.choice(string.ascii_uppercase) for _ in range(rng.randint(3, 4)))

    def street(self):
        rng = self.rng
        number = rng.choice([f"{rng.randint(1, 99)}", f"{rng.randint(100, 9999)}", f"{rng.randint(1, 99)}{rng.choice('abcABC')}"])
        if rng.random() < 0.3:
            name = rng.choice(WORDS["foreign_streets"]).format(rng.choice([self.last(), self.city(), self.first()]))
            return rng.choice([f"{name} {number}", f"{number} {name}", f"{name}, {number}"])
        name = f"{rng.choice([*WORDS['street_names'], self.last(), self.city()])} {rng.choice(WORDS['streets'])}"
        return rng.choice(["", "", "", "", f"Flat {rng.randint(1, 40)}, ", f"Apt {rng.randint(1, 40)}, ", f"Unit {rng.randint(1, 9)}, "]) + f"{number} {name}"

    def code(self):
        d, letter = self.digits, lambda: self.rng.choice(string.ascii_uppercase)
        return self.rng.choice([d(5), d(5), f"{letter()}{letter()}{d(1)} {d(1)}{letter()}{letter()}", f"{letter()}{d(2)} {d(1)}{letter()}{letter()}",
                                f"{d(4)} {letter()}{letter()}", f"{letter()}{d(1)}{letter()} {d(1)}{letter()}{d(1)}", f"{d(2)}-{d(3)}", d(4)])

    def postal(self):
        city, code = self.city(), self.code()
        return self.rng.choice([f"{code} {city}", f"{city} {code}", f"{city}, {code}", f"{city}", f"{city}, {self.rng.choice(['TX', 'NY', 'CA', 'IL', 'MA', 'WA', 'FL'])} {self.digits(5)}"])

    def digits(self, count):
        return "".join(self.rng.choice(string.digits) for _ in range(count))

    def date(self):
        rng = self.rng
        month, day, year = rng.choice(MONTHS), rng.randint(1, 31), rng.choice([rng.randint(1930, 2030), rng.randint(2018, 2027)])
        number, short, foreign = rng.randint(1, 12), rng.choice(SHORT_MONTHS), rng.choice(WORDS["foreign_months"])
        nth = f"{day}{'st' if day in (1, 21, 31) else 'nd' if day in (2, 22) else 'rd' if day in (3, 23) else 'th'}"
        return rng.choice([
            f"{month} {day}, {year}", f"{day} {month} {year}", f"{month} {day}", f"{day} {month}", f"{month} {year}", f"{year}", f"{month}",
            f"{day:02}/{number:02}/{year}", f"{day}.{number}.{year}", f"{day:02}.{number:02}.{year}", f"{year}-{number:02}-{day:02}", rng.choice(DAYS),
            f"{rng.choice(DAYS)}, {month} {day}", f"{day} {short} {year}", f"{number}/{day}/{year % 100:02}", f"{nth} of {month}", f"{month} {nth}",
            f"{day}-{short}-{year}", f"{day} {foreign} {year}", f"{day}. {foreign} {year}", f"{short} {day}",
            f"{rng.choice(DAYS)} {day} {month}", f"{day}-{number}-{year}", f"{number:02}/{day:02}", f"{nth} {month} {year}"])

    def amount(self):
        rng = self.rng
        value = rng.choice([f"{rng.randint(1, 99)}", f"{rng.randint(1, 999)}.{self.digits(2)}", f"{rng.randint(1, 99)},{self.digits(3)}",
                            f"{rng.randint(100, 9999)}", f"{rng.randint(1, 9)},{self.digits(3)}.{self.digits(2)}", f"{rng.randint(1, 99)},{self.digits(2)}"])
        return rng.choice([f"${value}", f"£{value}", f"€{value}", f"{value} euros", f"{value} dollars", f"{value} pounds", f"{value} €", f"{value}€",
                           f"EUR {value}", f"{value} USD", f"{value} EUR", f"CHF {value}", f"${rng.randint(1, 90)} million", f"{rng.randint(2, 90)}k",
                           f"{rng.randint(2, 90)} million euros", f"{value} rupees", f"₹{value}", f"{value} quid", f"${rng.randint(1, 90)}k"])

    def user(self):
        rng = self.rng
        first, last = (re.sub(r"[^a-z]", "", unicodedata.normalize("NFKD", name).lower()) or "me" for name in (self.first(), self.last()))
        return rng.choice([first, f"{first}.{last}", f"{first[:1]}.{last}", f"{first}{self.digits(2)}", f"{first}_{last}", f"{last}{first[:1]}",
                           f"{first}{last}", f"{first}-{last}", f"{last}.{first}{self.digits(1)}", rng.choice(["info", "office", "hello", "support", "j.d", "x"])])

    def host(self):
        if self.rng.random() < 0.6:
            return self.rng.choice(WORDS["domains"])
        name = re.sub(r"[^a-z]", "", unicodedata.normalize("NFKD", self.rng.choice([self.last(), self.org()])).lower()) or "site"
        return self.rng.choice(["", "", "", "mail.", "shop.", "my."]) + name + self.rng.choice([".com", ".org", ".net", ".io", ".de", ".fr", ".co.uk", ".eu", ".app"])

    def email(self):
        address = f"{self.user()}{self.rng.choice(['', '', '', '', '+news', '+shop'])}@{self.host()}"
        return self.rng.choice([address, address, address, address, address.upper(), address.title()])

    def phone(self):
        d, rng = self.digits, self.rng
        twos = " ".join(d(2) for _ in range(4))
        return rng.choice([
            f"+{rng.randint(1, 98)} {d(3)} {d(3)} {d(4)}", f"({d(3)}) {d(3)}-{d(4)}", f"{d(3)}-{d(3)}-{d(4)}", f"0{d(3)} {d(6)}", f"0{d(4)} {d(3)} {d(3)}",
            f"+44 20 {d(4)} {d(4)}", f"+44 7{d(3)} {d(6)}", f"07{d(3)} {d(6)}", f"+49{d(10)}", f"+49 {d(3)} {d(7)}", f"0{d(2)}-{d(7)}", f"{d(3)}.{d(3)}.{d(4)}",
            f"0{d(9)}", f"+1-{d(3)}-{d(3)}-{d(4)}", f"+1 ({d(3)}) {d(3)}-{d(4)}", f"+33 6 {twos}", f"06 {twos}", f"0{d(1)} {twos}", f"0{d(1)}.{twos.replace(' ', '.')}",
            f"555-{d(4)}", f"+91 {d(5)} {d(5)}", f"0{d(3)}/{d(7)}", f"00{rng.randint(1, 98)} {d(2)} {d(3)} {d(4)}", f"{d(3)} {d(3)} {d(3)}", f"{d(3)} {d(2)} {d(2)} {d(2)}",
            f"{d(3)} {d(4)}", f"+34 {d(3)} {d(2)} {d(2)} {d(2)}", f"{d(10)}", f"+{d(11)}", f"{d(3)}-{d(4)} ext. {d(3)}"])

    def link(self):
        path = self.rng.choice(WORDS["paths"]).format(self.user())
        start = self.rng.choice(["https://", "https://", "http://", "www.", "https://www.", ""])
        return start + (self.host() if start or path else "www." + self.host()) + path

    def card(self):
        space = self.rng.choice([" ", " ", " ", "-", "", "\u00a0", ".", "  "])
        if self.rng.random() < 0.12:
            return space.join([f"37{self.digits(2)}", self.digits(6), self.digits(5)])
        return space.join([self.rng.choice("456") + self.digits(3), self.digits(4), self.digits(4), self.digits(4)])

    def iban(self):
        country, length = self.rng.choice(IBANS)
        rest = self.digits(2) + (self.rng.choice(["ABNA", "INGB", "BARC", "MIDL", "NWBK", "RABO"]) if country in ("GB", "NL") else "")
        code = country + rest + self.digits(length - 2 - len(rest))
        if self.rng.random() < 0.35:
            return code
        return self.rng.choice([" ", " ", " ", "\u00a0", "-"]).join(code[i:i + 4] for i in range(0, length, 4))

    def id(self):
        rng, d = self.rng, self.digits
        letters = lambda count, of=string.ascii_letters + string.digits: "".join(rng.choice(of) for _ in range(count))  # noqa: E731
        big = string.ascii_uppercase
        return rng.choice([
            f"{d(3)}-{d(2)}-{d(4)}", f"{d(3)}-{d(2)}-{d(4)}", f"{letters(1, big)}{d(8)}", f"{letters(2, big)}{d(7)}", f"{letters(2, big)} {d(2)} {d(2)} {d(2)} {letters(1, big)}",
            self.user() + d(rng.randint(0, 3)), f"{self.first()}{rng.choice('!#$%&*?')}{d(4)}", letters(12), letters(9) + rng.choice("!#$%*"), f"sk-{letters(24)}",
            f"sk_live_{letters(20)}", f"ghp_{letters(30)}", f"AKIA{letters(16, big + string.digits)}", f"{d(3)}.{d(2)}.{d(1)}.{d(3)}", f"192.168.{d(1)}.{d(2)}",
            f"{letters(2, big)}{d(2)} {letters(3, big)}", f"{letters(3, big)}-{d(4)}", f"{d(2)} {d(3)} {d(3)} {d(3)}", f"hunter{d(1)}", f"{d(4)}"])

    def number(self):
        """No private detail: an order, a version, an ISBN."""
        d, rng = self.digits, self.rng
        return rng.choice([d(rng.randint(4, 9)), f"{d(1)}.{d(2)}.{d(1)}", f"978-{d(1)}-{d(4)}-{d(4)}-{d(1)}", f"A{d(5)}", f"{d(3)}-{d(7)}-{d(7)}", f"#{d(5)}", f"{d(2)}/{d(3)}", f"INV-{d(4)}"])

    def small(self):
        return f"{self.rng.randint(1, 60)}{self.rng.choice(['', '', '', 'A', 'B'])}"


KIND_OF = {  # of a slot: the type of its label; None is no private detail
    "FIRST": "PER", "LAST": "PER", "FULL": "PER", "TURNED": "PER", "SHORT": "PER", "CITY": "LOC", "COUNTRY": "LOC", "STREET": "LOC", "POSTAL": "LOC",
    "ORG": "ORG", "DATE": "DATE", "AMOUNT": "AMOUNT", "EMAIL": "EMAIL", "PHONE": "PHONE", "LINK": "LINK", "CARD": "CARD", "IBAN": "IBAN", "ID": "ID",
    "NUMBER": None, "SMALL": None}


def name_words():
    """All words of names and places that are drawn, in small letters."""
    every = Details(None, random.Random(0))
    listed = [name for columns in every.columns for names in columns[:3] for name in names]
    return {word for name in [*listed, *CITIES, *COUNTRIES] for word in name.lower().split()}
