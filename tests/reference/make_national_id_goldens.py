"""Writes tests/fixtures/national_ids.json: for each country, numbers that python-stdnum accepts and numbers that it refuses.

python -m pip install python-stdnum==2.2
python tests/reference/make_national_id_goldens.py
"""

import json
import random
from importlib import import_module
from pathlib import Path

OUT = Path(__file__).resolve().parents[1] / "fixtures" / "national_ids.json"
COUNT = 12
DAYS = [f"{month:02}{day:02}" for month in range(1, 13) for day in range(1, 29)]

# A module of python-stdnum; a form with d for a digit, Y a date (yymmdd), Z a date (ddmmyy), final L a letter; a cue.
COUNTRIES = {
    "es.dni": ("ddddddddL", ""),
    "es.nie": ("XdddddddL", ""),
    "it.codicefiscale": ("RSSMRAddT1dAdddL", ""),
    "fr.nir": ("1850575dddddddd", ""),
    "be.nn": ("Yddddd", ""),
    "de.idnr": ("ddddddddddd", ""),
    "pl.pesel": ("Yddddd", ""),
    "se.personnummer": ("Y-dddd", ""),
    "fi.hetu": ("Z-dddL", ""),
    "no.fodselsnummer": ("Zddddd", ""),
    "cz.rc": ("Y/dddd", ""),
    "ro.cnp": ("1Y40dddd", ""),
    "bg.egn": ("Ydddd", "ЕГН"),
    "ee.ik": ("3Ydddd", ""),
    "lt.asmens": ("3Ydddd", ""),
    "ch.ssn": ("756dddddddddd", ""),
    "tr.tckimlik": ("ddddddddddd", ""),
    "br.cpf": ("ddddddddddd", ""),
    "cl.rut": ("dddddddd-d", ""),
    "mx.curp": ("BOXWdd0820HNERXNdd", ""),
    "cn.ric": ("360426199101010ddd", ""),
    "kr.rrn": ("Y-1dddddd", ""),
    "za.idnr": ("Ydddd08d", ""),
    "us.ssn": ("ddd-dd-dddd", ""),
    "gb.nhs": ("dddddddddd", "NHS number"),
    "in_.aadhaar": ("dddddddddddd", "Aadhaar"),
    "ca.sin": ("ddddddddd", "SIN"),
    "nl.bsn": ("ddddddddd", "BSN"),
    "pt.nif": ("ddddddddd", "NIF"),
    "au.tfn": ("ddddddddd", "TFN"),
    "il.idnr": ("ddddddddd", "ID number"),
}


def candidate(rng, form):
    year, day = f"{rng.randrange(50, 99)}", rng.choice(DAYS)
    text = form.replace("Y", year + day).replace("Z", day[2:] + day[:2] + year)
    if text.endswith("L"):
        text = text[:-1] + rng.choice("ABCDEFGHJKLMNPQRSTVWXYZ")
    return "".join(rng.choice("0123456789") if char == "d" else char for char in text)


def main():
    rng = random.Random(20)
    goldens = {}
    for name, (form, cue) in COUNTRIES.items():
        module = import_module(f"stdnum.{name}")
        right, wrong = set(), set()
        while len(right) < COUNT or len(wrong) < COUNT:
            number = candidate(rng, form)
            kept = right if module.is_valid(number) else wrong
            if len(kept) < COUNT:
                kept.add(number)
        goldens[name] = {"cue": cue, "right": sorted(right), "wrong": sorted(wrong)}
    OUT.write_text(json.dumps(goldens, ensure_ascii=False, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
