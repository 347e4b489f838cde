"""Dates, amounts and what identifies a person or an account: found by rule in text that does not mark them, and made up.

No labelled set at hand marks them. Rules are right where the form gives them away; made-up messages show the forms among words that
people put around them, so that the tagger learns forms and surroundings.
"""

import re

from entities import LABELS, Sentence

MONTHS = "January February March April May June July August September October November December".split()
SHORT_MONTHS = "Jan Feb Mar Apr Jun Jul Aug Sep Sept Oct Nov Dec".split()
DAYS = "Monday Tuesday Wednesday Thursday Friday Saturday Sunday".split()
CURRENCIES = set("dollars euros pounds cents yen francs rupees euro dollar pound usd eur gbp chf".split())
SCALES = set("hundred thousand million billion trillion".split())
YEAR = re.compile(r"1[5-9]\d\d|20[0-3]\d")
DECADE = re.compile(r"(1[5-9]\d\d|20[0-3]\d)s")
DAY_NUMBER = re.compile(r"([12]?\d|3[01])(st|nd|rd|th)?")
NUMERIC_DATE = re.compile(r"\d{1,2}[/.]\d{1,2}[/.](\d{4}|\d{2})|\d{4}-\d{2}-\d{2}")
NUMBER = re.compile(r"\d[\d,.]*")
MONEY = re.compile(r"([$£€]|US\$)\d[\d,.]*(k|m|bn)?|\d[\d,.]*[$£€]", re.IGNORECASE)
EMAIL = re.compile(r"[\w.+-]+@[\w-]+\.[\w.]+")
LINK = re.compile(r"(https?://|www\.)\S+|\w+\.(com|org|net|co\.uk)(/\S*)?", re.IGNORECASE)
BEFORE_YEAR = set("in since until by from of to during before after around between and early late".split())


def date_end(words, at):
    """One past the date that begins at word `at`, or `at`."""
    def word(i):
        return words[i] if 0 <= i < len(words) else ""

    is_month = word(at) in MONTHS or word(at).rstrip(".") in SHORT_MONTHS
    if is_month:
        end = at + 1
        if DAY_NUMBER.fullmatch(word(end)):
            end += 1
            if word(end) == "," and YEAR.fullmatch(word(end + 1)):
                return end + 2
        if YEAR.fullmatch(word(end)):
            return end + 1
        certain = word(at) not in ("May", "March", "Mar") or word(at - 1).lower() in BEFORE_YEAR | {"last", "next", "this"}
        return end if end > at + 1 or certain else at
    if DAY_NUMBER.fullmatch(word(at)):
        following = at + 2 if word(at + 1) == "of" else at + 1
        if word(following) in MONTHS or word(following).rstrip(".") in SHORT_MONTHS:
            return following + 2 if YEAR.fullmatch(word(following + 1)) else following + 1
    if word(at) in DAYS or NUMERIC_DATE.fullmatch(word(at)) or DECADE.fullmatch(word(at)):
        return at + 1
    if YEAR.fullmatch(word(at)) and (word(at - 1).lower() in BEFORE_YEAR or word(at - 1) in ("(", ",") or word(at + 1) == ")"):
        return at + 1
    return at


def amount_end(words, at):
    def word(i):
        return words[i].lower() if 0 <= i < len(words) else ""

    if MONEY.fullmatch(word(at)):
        return at + 2 if word(at + 1) in SCALES else at + 1
    if word(at) in ("$", "£", "€") and NUMBER.fullmatch(word(at + 1)):
        return at + 3 if word(at + 2) in SCALES else at + 2
    if NUMBER.fullmatch(word(at)):
        end = at + 2 if word(at + 1) in SCALES else at + 1
        if word(end) in CURRENCIES or word(end) in ("€", "£"):
            return end + 1
    return at


def with_details(sentence):
    """The sentence with dates, amounts, addresses and links marked where no label says otherwise."""
    labels, at = list(sentence.labels), 0
    while at < len(labels):
        found = [("DATE", date_end(sentence.words, at)), ("AMOUNT", amount_end(sentence.words, at))]
        if EMAIL.fullmatch(sentence.words[at]):
            found = [("EMAIL", at + 1)]
        elif LINK.fullmatch(sentence.words[at]):
            found = [("LINK", at + 1)]
        kind, end = max(found, key=lambda one: one[1])
        if end > at and all(label == "O" for label in labels[at:end]):
            labels[at:end] = [f"B-{kind}"] + [f"I-{kind}"] * (end - at - 1)
            at = end
        else:
            at += 1
    return Sentence(sentence.words, labels)


TEMPLATES = """
You can reach {PER} at {EMAIL} or on {PHONE} .
Hi , this is {PER} . My number is {PHONE} and my mail is {EMAIL} .
Best regards , {PER} , {ORG} , {LOC} , phone {PHONE}
Contact : {EMAIL}
tel . {PHONE} , fax {PHONE}
call me on {PHONE} after six
Text {PHONE} if you are late .
Write to {EMAIL} and put {PER} in copy .
{EMAIL} and {EMAIL} bounced , please check .
The form is at {LINK} and closes on {DATE} .
More about it : {LINK}
see {LINK} for the programme
I paid {AMOUNT} on {DATE} with the card {CARD} .
Card number {CARD} , valid until {DATE} .
my credit card is {CARD} and the name on it is {PER}
The card ending was wrong , the right one is {CARD} .
Transfer {AMOUNT} to {IBAN} .
IBAN : {IBAN}
Our account at {ORG} is {IBAN} , the holder is {PER} .
Bank details : {PER} , {IBAN}
The deposit of {AMOUNT} goes back to {IBAN} by {DATE} .
Invoice of {DATE} : {AMOUNT} , due on {DATE} .
The rent is {AMOUNT} a month from {DATE} on .
{PER} was born on {DATE} in {LOC} .
Date of birth : {DATE} , place of birth : {LOC}
{PER} , born {DATE} , lives in {LOC} and earns {AMOUNT} .
Appointment with Dr. {PER} on {DATE} , phone {PHONE} .
The parcel for {PER} in {LOC} was sent on {DATE} , track it at {LINK} .
{ORG} charged me {AMOUNT} twice , first on {DATE} and again on {DATE} .
Ticket from {LOC} to {LOC} on {DATE} , {AMOUNT} , booked by {PER} .
On {DATE} {ORG} asked for {AMOUNT} .
It cost {AMOUNT} in {DATE} and {AMOUNT} today .
{PER} ( {EMAIL} ) and {PER} ( {EMAIL} ) work for {ORG} .
Order 48213 of {DATE} , 3 items , {AMOUNT} , to {PER} , {LOC} .
Room 12 , 4 nights from {DATE} , {AMOUNT} .
The code is 4821 and the order is 77120953 .
Meet {PER} at {LOC} on {DATE} at 10 .
{PER} from {LOC} won {AMOUNT} in {DATE} .
Send the signed copy to {EMAIL} , {PER} at {ORG} will scan it .
Emergency contact : {PER} , {PHONE} .
""".strip().split("\n")
DOMAINS = "example.com example.org mail.com post.net office.io company.co.uk firma.de school.edu studio.fr web.nl".split()
PATHS = ["", "", "/", "/help", "/news/2021", "/a?id=42", "/docs/index.html", "/u/profile", "/shop/item/123"]


class Maker:
    """Made-up sentences; names are those of the labelled training sets."""

    def __init__(self, sentences, rng):
        self.rng = rng
        self.names = {kind: [] for kind in ("PER", "ORG", "LOC")}
        for sentence in sentences:
            words = []
            for word, label in [*zip(sentence.words, sentence.labels), ("", "O")]:
                if words and (label is None or not label.startswith("I-")):
                    if kind in self.names and len(words) < 5:
                        self.names[kind].append(words)
                    words = []
                if label and label != "O":
                    kind = label[2:]
                    words = [*words, word]

    def digits(self, count):
        return "".join(self.rng.choice("0123456789") for _ in range(count))

    def date(self):
        rng = self.rng
        month, day, year = rng.choice(MONTHS), rng.randint(1, 31), rng.randint(1930, 2030)
        return rng.choice([
            f"{month} {day} , {year}", f"{day} {month} {year}", f"{month} {day}", f"{day} {month}", f"{month} {year}", f"{year}",
            f"{day:02}/{rng.randint(1, 12):02}/{year}", f"{day}.{rng.randint(1, 12)}.{year}", f"{year}-{rng.randint(1, 12):02}-{day:02}",
            rng.choice(DAYS), f"{rng.choice(DAYS)} , {month} {day}", f"{day} {rng.choice(SHORT_MONTHS)} {year}",
            f"{rng.randint(1, 12)}/{day}/{year % 100:02}", f"the {day}th of {month}".removeprefix("the ")]).split()

    def amount(self):
        rng = self.rng
        value = rng.choice([f"{rng.randint(1, 99)}", f"{rng.randint(1, 999)}.{self.digits(2)}", f"{rng.randint(1, 99)},{self.digits(3)}",
                            f"{rng.randint(100, 9999)}"])
        return rng.choice([f"${value}", f"£{value}", f"€{value}", f"{value} euros", f"{value} dollars", f"{value} pounds", f"{value} €",
                           f"EUR {value}", f"{value} USD", f"${rng.randint(1, 90)} million", f"{rng.randint(2, 90)} million euros"]).split()

    def email(self):
        rng = self.rng
        first, last = (self.plain(rng.choice(self.names["PER"])) for _ in range(2))
        user = rng.choice([first, f"{first}.{last}", f"{first[:1]}.{last}", f"{first}{self.digits(2)}", f"{first}_{last}", "info", "office"])
        return [f"{user}@{rng.choice([*DOMAINS, self.plain(rng.choice(self.names['ORG'])) + '.com'])}"]

    def plain(self, words):
        return re.sub(r"[^a-z0-9]", "", words[self.rng.randrange(len(words))].lower()) or "me"

    def phone(self):
        d = self.digits
        return self.rng.choice([
            f"+{self.rng.randint(1, 98)} {d(3)} {d(3)} {d(4)}", f"({d(3)}) {d(3)}-{d(4)}", f"{d(3)}-{d(3)}-{d(4)}", f"0{d(3)} {d(6)}",
            f"0{d(4)} {d(3)} {d(3)}", f"+44 20 {d(4)} {d(4)}", f"+49{d(10)}", f"0{d(2)}-{d(7)}", f"{d(3)}.{d(3)}.{d(4)}", f"0{d(9)}",
            f"+1-{d(3)}-{d(3)}-{d(4)}", f"+33 6 {d(2)} {d(2)} {d(2)} {d(2)}", f"555-{d(4)}"]).split()

    def link(self):
        host = self.rng.choice([*DOMAINS, self.plain(self.rng.choice(self.names["ORG"])) + self.rng.choice([".com", ".org", ".net", ".io"])])
        return [self.rng.choice(["https://", "http://", "www.", "https://www.", ""]) + host + self.rng.choice(PATHS)]

    def card(self):
        space = self.rng.choice([" ", " ", "-", ""])
        first = self.rng.choice("45") + self.digits(3)
        if self.rng.random() < 0.12:
            return space.join([f"37{self.digits(2)}", self.digits(6), self.digits(5)]).split()
        return space.join([first, self.digits(4), self.digits(4), self.digits(4)]).split()

    def iban(self):
        country, length = self.rng.choice([("DE", 22), ("GB", 22), ("FR", 27), ("ES", 24), ("NL", 18), ("CH", 21), ("IT", 27), ("AT", 20)])
        rest = self.digits(2) + (self.rng.choice(["ABNA", "INGB", "BARC", "MIDL"]) if country in ("GB", "NL") else "")
        code = country + rest + self.digits(length - 2 - len(rest))
        if self.rng.random() < 0.35:
            return [code]
        return [code[i:i + 4] for i in range(0, length, 4)]

    def value(self, kind):
        if kind in self.names:
            return self.rng.choice(self.names[kind])
        return getattr(self, kind.lower())()

    def sentence(self):
        words, labels = [], []
        for part in self.rng.choice(TEMPLATES).split():
            if part.startswith("{"):
                kind = part[1:-1]
                found = self.value(kind)
                words += found
                labels += [f"B-{kind}"] + [f"I-{kind}"] * (len(found) - 1)
            else:
                words.append(part)
                labels.append("O")
        if self.rng.random() < 0.1:
            words = [w.lower() if label == "O" else w for w, label in zip(words, labels)]
        assert all(label in LABELS for label in labels)
        return Sentence(words, labels)


def made_sentences(sentences, count, rng):
    maker = Maker(sentences, rng)
    return [maker.sentence() for _ in range(count)]
