"""Writes src/causeway/types.py and operations.py from the description of the API: python3 generate.py openapi.json.

The types say what JSON the service sends and takes: objects are TypedDicts, rates Decimals, and all integers ints. Each
operation is a method.
"""

import json
import keyword
import pathlib
import re
import sys
import textwrap

FOLDER = pathlib.Path(__file__).parent / "src" / "causeway"


def type_of(schema: dict, prefix: str = "", name: str = "", extra: list | None = None) -> str:
    """Returns the type of a schema. An object within another one is added to extra, as Name."""
    if "$ref" in schema:
        return f'{prefix}{schema["$ref"].rpartition("/")[2]}'
    if "oneOf" in schema:
        return " | ".join(dict.fromkeys(type_of(one, prefix) for one in schema["oneOf"]))
    if "enum" in schema:
        return f'Literal[{", ".join(map(json.dumps, schema["enum"]))}]'
    match schema.get("type"):
        case "object" if "properties" in schema and extra is not None:
            extra.append((name, schema))
            return name
        case "object":
            values = schema.get("additionalProperties")
            return f"dict[str, {type_of(values, prefix) if isinstance(values, dict) and values else 'Any'}]"
        case "array":
            return f'list[{type_of(schema["items"], prefix, name, extra)}]'
        case "string":
            return "File" if schema.get("format") == "binary" else "str"
        case "integer":
            return "int"
        case "number":
            return "Decimal"
        case "boolean":
            return "bool"
        case None:
            return "Any"
    raise ValueError(f"{name}: {schema}")


def docstring(text: str, indent: str) -> str:
    text = text.replace("\\", "\\\\").replace('"""', "'''").strip()
    lines = textwrap.wrap(text, 110, break_long_words=False, break_on_hyphens=False)
    end = "" if len(lines) == 1 else "\n" + indent
    return f'{indent}"""' + ("\n" + indent).join(lines) + end + '"""\n'


def write_types(schemas: dict) -> tuple[str, set[str]]:
    """Returns the source of the types, and the names of the fields that are rates."""
    rates: set[str] = set()
    others: set[str] = set()
    out = []
    unions = []
    todo = list(schemas.items())
    for name, schema in todo:
        if "properties" not in schema:
            unions.append(f"{name}: TypeAlias = {type_of(schema)}\n")
            continue
        required = set(schema.get("required", []))
        fields = []
        for field, inner in schema["properties"].items():
            (rates if inner.get("type") == "number" else others).add(field)
            kind = type_of(inner, "", f"{name}{field[0].upper()}{field[1:]}", todo)
            fields.append((field, kind if field in required else f"NotRequired[{kind}]", inner.get("description")))
        if any(keyword.iskeyword(field) for field, _, _ in fields):
            out.append(f"{name} = TypedDict({json.dumps(name)}, {{\n")
            out += [f"    {json.dumps(field)}: {json.dumps(kind)},\n" for field, kind, _ in fields]
            out.append("})\n")
        else:
            out.append(f"class {name}(TypedDict):\n")
            for field, kind, description in fields:
                out.append(f"    {field}: {json.dumps(kind)}\n" + (docstring(description, "    ") if description else ""))
            out.append("" if fields else "    pass\n")
        out.append("\n\n")
    if rates & others:
        raise ValueError(f"a rate in one object, and something else in another: {rates & others}")
    return "".join(out + unions), rates


def snake(name: str) -> str:
    name = re.sub(r"(?<=[a-z0-9])(?=[A-Z])|-", "_", name).lower()
    return name + "_" if keyword.iskeyword(name) else name


def method(verb: str, path: str, operation: dict, description: dict, text: bool) -> str:
    """Returns the method of an operation. text is whether it returns a file, such as a report as CSV, where it has the choice."""
    parameters = [
        description["components"]["parameters"][p["$ref"].rpartition("/")[2]] if "$ref" in p else p for p in operation.get("parameters", [])
    ]
    if text or any(file_types(operation)) and returned(operation) != "bytes":
        parameters = [p for p in parameters if p["name"] != "format"]
    in_path = [p for p in parameters if p["in"] == "path"]
    others = sorted((p for p in parameters if p["in"] != "path"), key=lambda p: not p.get("required", False))
    arguments = ["self"] + [f'{snake(p["name"])}: {type_of(p["schema"])}' for p in in_path]
    values = {"query": [], "header": []}
    body = operation.get("requestBody")
    extra = []
    if body:
        content = body["content"]
        optional = "" if body.get("required") else " | None = None"
        if "application/json" in content:
            arguments.append(f'body: {type_of(content["application/json"]["schema"], "types.")}{optional}')
            extra.append("body=body")
        elif list(content) == ["multipart/form-data"]:
            arguments.append("fields: Mapping[str, str | File]")
            extra.append("fields=fields")
        else:
            arguments += ["body: bytes", "content_type: str"]
            extra.append("body=body, content_type=content_type")
    if others:
        arguments.append("*")
    for p in others:
        name, kind = snake(p["name"]), type_of(p["schema"])
        arguments.append(f"{name}: {kind}" if p.get("required") else f"{name}: {kind} | None = None")
        values[p["in"]].append(f'"{p["name"]}": {name}')
    if text:
        values["query"].append('"format": "csv"')
    where = "f" + json.dumps(re.sub(r"\{(\w+)\}", lambda m: f"{{quote({snake(m[1])})}}", path)) if in_path else json.dumps(path)
    for place, pairs in values.items():
        if pairs:
            extra.append(f'{place}={{{", ".join(pairs)}}}')
    if verb == "post" and not any(p["name"] == "Idempotency-Key" for p in parameters):
        extra.append("keyed=False")
    call = f'self._call({", ".join([json.dumps(verb.upper()), where] + extra)})'
    result = "bytes" if text else returned(operation)
    name = snake(operation["operationId"]) + ("_csv" if text else "")
    source = f"    def {name}({', '.join(arguments)}) -> {result}:\n"
    source += docstring(f'{operation["summary"]}. {operation.get("description", "")}', "        ")
    source += f"        return {call}\n\n" if result != "None" else f"        {call}\n\n"
    if result.endswith("ListResponse") and any(p["name"] == "cursor" for p in others):
        named = [a.split(":")[0] for a in arguments[1:] if a != "*" and not a.startswith("cursor:")]
        item = type_of(description["components"]["schemas"][result.removeprefix("types.")]["properties"]["data"]["items"], "types.")
        source += f"    def {name}_iter({', '.join(a for a in arguments if not a.startswith('cursor:'))}) -> Iterator[{item}]:\n"
        source += docstring(f'{operation["summary"]}: all items, page by page as they are needed.', "        ")
        positional, keywords = named[: len(in_path)], [f"{n}={n}" for n in named[len(in_path) :]]
        call = ", ".join(positional + keywords + ["cursor=cursor"])
        source += f"        return self._iterate(lambda cursor: self.{name}({call}))\n\n"
    return source


def successes(operation: dict) -> list[dict]:
    return [response.get("content", {}) for status, response in operation["responses"].items() if status.startswith("2")]


def file_types(operation: dict) -> list[str]:
    return [kind for content in successes(operation) for kind in content if kind != "application/json"]


def returned(operation: dict) -> str:
    kinds = dict.fromkeys(
        type_of(content["application/json"]["schema"], "types.") if "application/json" in content else "bytes" if content else "None"
        for content in successes(operation)
    )
    return " | ".join(kinds)


def main() -> None:
    description = json.loads(pathlib.Path(sys.argv[1]).read_text())
    types, rates = write_types(description["components"]["schemas"])
    header = '"""{} Written by generate.py: do not edit."""\n\n'
    (FOLDER / "types.py").write_text(
        header.format("What the service sends and takes.")
        + "from decimal import Decimal\nfrom typing import Any, Literal, NotRequired, TypeAlias, TypedDict\n\n"
        + f"RATES = frozenset({sorted(rates)})\n\n\n"
        + types
    )
    methods = ""
    for path, item in description["paths"].items():
        for verb, operation in item.items():
            if verb in ("get", "put", "post", "patch", "delete"):
                methods += method(verb, path, operation, description, False)
                if "text/csv" in file_types(operation) and returned(operation) != "bytes":
                    methods += method(verb, path, operation, description, True)
    (FOLDER / "operations.py").write_text(
        header.format("All operations of the API.")
        + "from collections.abc import Iterator, Mapping\nfrom typing import Any, Literal\n\n"
        + "from . import types\nfrom ._sender import File, Sender, quote\n\n\n"
        + 'class Operations(Sender):\n    """Each operation of the API is a method, with its id as name."""\n\n'
        + methods.rstrip()
        + "\n"
    )


main()
