"""Writes tests/fixtures/bm25.json: BM25 scores of bm25s (method 'lucene'). Usage: make_bm25_goldens.py; needs `pip install bm25s`."""

import json
import pathlib
import re

import bm25s
import numpy

ROOT = pathlib.Path(__file__).resolve().parents[2]
QUERIES = ['the bill', 'address telephone number', 'Mary', 'please please call', 'xylophone', 'my my doctor on Monday']


def words(text):
    return re.findall(r'\w+', text.lower())


def case(documents, queries):
    retriever = bm25s.BM25(method='lucene', k1=1.5, b=0.75, dtype='float64')
    retriever.index([words(document) for document in documents], show_progress=False)
    known = retriever.vocab_dict
    scored = []
    for query in queries:
        tokens = [word for word in words(query) if word in known]
        scores = retriever.get_scores(tokens) if tokens else numpy.zeros(len(documents))
        scored.append({'query': query, 'scores': [round(float(score), 7) for score in scores]})
    return {'documents': documents, 'queries': scored}


def main():
    messages = (ROOT / 'models/everyday_messages.txt').read_text(encoding='utf8').split('\n')
    lines = [line for line in messages if line.strip() and re.fullmatch(r'[\x20-\x5e\x60-\x7e]+', line)]
    cases = [case(lines[:40], QUERIES), case(['a', 'a b', 'b b b c'], ['a', 'b', 'b c', 'a a b'])]
    (ROOT / 'tests/fixtures/bm25.json').write_text(json.dumps({'cases': cases}, indent=1) + '\n', encoding='utf8')


if __name__ == '__main__':
    main()
