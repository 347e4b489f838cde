"""What the sentiment classifier learns from: labelled texts of four kinds, texts that say neither, and variations of texts."""

from shared.texts import SENTIMENT_SETS, emotion_rows, intent_rows, sentiment_rows

POSITIVE = set("admiration amusement approval caring excitement gratitude joy love optimism pride relief".split())
NEGATIVE = set("anger annoyance disappointment disapproval disgust embarrassment fear grief nervousness remorse sadness".split())


def feelings(data_dir, split):
    """GoEmotions comments whose feelings are all pleasant (1) or all unpleasant (0)."""
    rows = [(text, set(names)) for text, names in emotion_rows(data_dir, split)]
    return [(int(bool(names & POSITIVE)), text) for text, names in rows if bool(names & POSITIVE) != bool(names & NEGATIVE)]


def neither(data_dir, split):
    """Comments that GoEmotions calls neutral or curious, and queries to an assistant."""
    found = [text for text, names in emotion_rows(data_dir, split) if set(names) <= {"neutral", "curiosity"}]
    return found + [text for text, _ in intent_rows(data_dir, split)]


def labelled_rows(data_dir):
    return {name: sentiment_rows(data_dir, name, "train") for name in SENTIMENT_SETS} | {"feelings": feelings(data_dir, "train")}


def varied(text, others, rng):
    """The text, or one like it: words left out, a part of it, or a part of it before a part of another."""
    words, kind = text.split(" "), rng.random()
    if kind < 0.3 or len(words) < 4:
        return text
    if kind < 0.5:
        return " ".join(word for word in words if rng.random() > 0.2) or text
    if kind < 0.65:
        length = rng.randint(max(3, len(words) // 3), len(words))
        start = rng.randint(0, len(words) - length)
        return " ".join(words[start:start + length])
    other = rng.choice(others).split(" ")
    return " ".join(words[:rng.randint(2, len(words))] + other[rng.randint(0, max(0, len(other) - 3)):])
