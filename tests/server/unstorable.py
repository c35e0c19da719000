"""Values that fit a JSON schema in shape, with a given text wherever a text may be."""

from collections.abc import Iterator, Mapping
from typing import Any

NUL, HALF_A_PAIR = "a\0b", "a\ud800b"  # which PostgreSQL, and UTF-8, cannot hold
MOST_DEPTH = 6


def fill(schema: Mapping[str, Any], models: Mapping[str, Any], text: str, depth: int = 0) -> Any:
    """A value of the schema with the text in it; the first of alternatives."""
    if depth > MOST_DEPTH:
        return None
    if "$ref" in schema:
        return fill(models[schema["$ref"].rpartition("/")[2]], models, text, depth + 1)
    for several in ("anyOf", "allOf"):
        if several in schema:
            return fill(schema[several][0], models, text, depth + 1)
    if "const" in schema or "enum" in schema:
        return schema.get("const") or schema["enum"][0]
    if "properties" in schema:
        fields = schema["properties"].items()
        return {name: fill(field, models, text, depth + 1) for name, field in fields}
    if schema.get("type") == "array":
        return [fill(schema.get("items", {}), models, text, depth + 1)]
    plain = {"integer": 1, "number": 60.0, "boolean": False, "string": text}
    return plain.get(schema.get("type", ""), {text: text})


def bodies(schema: Mapping[str, Any], models: Mapping[str, Any], text: str) -> Iterator[Any]:
    """A value with the required fields alone, then one with all of them."""
    whole = fill(schema, models, text)
    model = models[schema["$ref"].rpartition("/")[2]] if "$ref" in schema else schema
    yield {name: whole[name] for name in model.get("required", ())}
    yield whole
