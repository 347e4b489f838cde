"""Made-up private details of thirty countries: names, addresses, companies, dates, amounts, numbers (by the library Faker).

Names of persons, towns and companies are for training or held out, by their last word.
"""

import functools
import random
import re
import string
import unicodedata

from faker import Faker

from shared.date_rules import MONTHS, SHORT_MONTHS
from shared.templates import bucket, word_lists

WORDS = word_lists("words.txt")
# The weight of each country in a draw. Other scripts than Latin are left out: the vocabulary lacks their words.
LOCALES = {locale: int(weight) for locale, weight in (one.split(":") for one in WORDS["locales"])}
# First and last names that Faker has only in their own scripts, in the usual spellings.
ROMAN = {locale: (WORDS[f"{locale}_first"], WORDS.get(f"{locale}_last", [])) for locale in ("ja_JP", "zh_CN", "ko_KR", "ar", "he", "ru", "el", "short")}
CITIES, COUNTRIES = WORDS["cities"], WORDS["countries"]
PLAIN_WORDS = set(WORDS["plain_words"])  # names that are the usual word far more often, in lower case
CHARACTERS = {"d": string.digits, "A": string.ascii_uppercase, "U": string.ascii_uppercase + string.digits, "w": string.ascii_letters + string.digits}
FORM = re.compile(r"\{([^{}]+)\}")
REPEATED = re.compile(r"([dAUw])(\d+)(?:-(\d+))?")
RANGE = re.compile(r"(\d+)-(\d+)")


def part_of(name):
    """'dev' for a twelfth of the names, else 'train'; by the last word, without accents."""
    plain = unicodedata.normalize("NFKD", name.split()[-1].lower()).encode("ascii", "ignore").decode()
    return "train" if bucket(plain, 12) else "dev"


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

    def filled(self, code, known):
        """Returns a text for {code} in a form of words.txt: one of `known`, characters ({d3}, {d0-3}), a number ({1-98}), a detail, one of a list, or one character."""
        rng = self.rng
        if code in known:
            return str(known[code])
        if match := REPEATED.fullmatch(code):
            kind, least, most = match.groups()
            count = rng.randint(int(least), int(most)) if most else int(least)
            return "".join(rng.choice(CHARACTERS[kind]) for _ in range(count))
        if match := RANGE.fullmatch(code):
            return str(rng.randint(int(match[1]), int(match[2])))
        return getattr(self, code)() if hasattr(self, code) else rng.choice(WORDS.get(code, code))

    def of(self, name, **known):
        """One of the forms that words.txt lists under the name."""
        return self.rng.choice([FORM.sub(lambda match: self.filled(match[1], known), form) for form in WORDS[name]])

    def first(self):
        name = self.rng.choice(self.column(0))
        if self.rng.random() < 0.03:
            name += self.rng.choice(["-", " "]) + self.rng.choice(self.column(0))
        return name

    def last(self):
        name, chance = self.rng.choice(self.column(1)), self.rng.random()
        if chance < 0.03:
            return f"{name}-{self.rng.choice(self.column(1))}"
        return self.rng.choice(WORDS["before_last"]).replace("_", " ") + name if chance < 0.06 else name

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
        rng, number = self.rng, self.of("house_numbers")
        if rng.random() < 0.3:
            name = rng.choice(WORDS["foreign_streets"]).format(rng.choice([self.last(), self.city(), self.first()]))
            return rng.choice([f"{name} {number}", f"{number} {name}", f"{name}, {number}"])
        name = f"{rng.choice([*WORDS['street_names'], self.last(), self.city()])} {rng.choice(WORDS['streets'])}"
        return self.of("flats").replace("_", " ") + f"{number} {name}"

    def postal(self):
        return self.of("postal", city=self.city(), code=self.of("postcodes"))

    def digits(self, count):
        return "".join(self.rng.choice(string.digits) for _ in range(count))

    def date(self):
        rng = self.rng
        month, day, year = rng.choice(MONTHS), rng.randint(1, 31), rng.choice([rng.randint(1930, 2030), rng.randint(2018, 2027)])
        number, short, foreign = rng.randint(1, 12), rng.choice(SHORT_MONTHS), rng.choice(WORDS["foreign_months"])
        nth = f"{day}{'st' if day in (1, 21, 31) else 'nd' if day in (2, 22) else 'rd' if day in (3, 23) else 'th'}"
        return self.of("dates", month=month, day=day, day2=f"{day:02}", year=year, year2=f"{year % 100:02}", number=number, number2=f"{number:02}",
                       short=short, foreign=foreign, nth=nth)

    def amount(self):
        return self.of("amounts", value=self.of("values"))

    def user(self):
        first, last = (re.sub(r"[^a-z]", "", unicodedata.normalize("NFKD", name).lower()) or "me" for name in (self.first(), self.last()))
        return self.of("users", first=first, last=last, f=first[:1], l=last[:1])

    def host(self):
        if self.rng.random() < 0.6:
            return self.rng.choice(WORDS["domains"])
        name = re.sub(r"[^a-z]", "", unicodedata.normalize("NFKD", self.rng.choice([self.last(), self.org()])).lower()) or "site"
        return self.rng.choice(WORDS["before_host"]) + name + self.rng.choice(WORDS["after_host"])

    def email(self):
        address = f"{self.user()}{self.rng.choice(['', '', '', '', '+news', '+shop'])}@{self.host()}"
        return self.rng.choice([address, address, address, address, address.upper(), address.title()])

    def phone(self):
        twos = " ".join(self.digits(2) for _ in range(4))
        return self.of("phones", twos=twos, dotted=twos.replace(" ", "."))

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
        chosen = self.rng.choice(WORDS["ibans"])
        country, length = chosen[:2], int(chosen[2:])
        rest = self.digits(2) + (self.rng.choice(WORDS["banks"]) if country in ("GB", "NL") else "")
        code = country + rest + self.digits(length - 2 - len(rest))
        if self.rng.random() < 0.35:
            return code
        return self.rng.choice([" ", " ", " ", "\u00a0", "-"]).join(code[i:i + 4] for i in range(0, length, 4))

    def id(self):
        return self.of("ids")

    def number(self):
        """No private detail: an order, a version, an ISBN."""
        return self.of("numbers")

    def small(self):
        return f"{self.rng.randint(1, 60)}{self.rng.choice(['', '', '', 'A', 'B'])}"


# The type of each slot's label. NUMBER and SMALL have no label, because they are not private.
KIND_OF = {slot: kind for kind, slots in (one.split(":") for one in WORDS["kinds"]) for slot in slots.split(",")} | {"NUMBER": None, "SMALL": None}


def name_words():
    """All words of names and places that are drawn, in small letters."""
    every = Details(None, random.Random(0))
    listed = [name for columns in every.columns for names in columns[:3] for name in names]
    return {word for name in [*listed, *CITIES, *COUNTRIES] for word in name.lower().split()}
