"""README.md from nbs/index.ipynb, without Quarto: the page's markdown and code, links turned to
the site."""
import base64
import json
import re
import sys
from configparser import ConfigParser
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]


def site():
    "Address of the site, from settings.ini."
    cfg = ConfigParser(delimiters=["="])
    cfg.read(ROOT/"settings.ini", encoding="utf-8")
    return cfg["DEFAULT"]["doc_host"] + cfg["DEFAULT"]["doc_baseurl"]


def page_url(match):
    """A link to a notebook becomes a link to its page; digits in front of names are dropped, as
    nbdev does."""
    path = re.sub(r"(^|/)\d+[a-z]?_", r"\1", match[2].removeprefix("./")).replace(".ipynb", ".html")
    return f"[{match[1]}]({site()}/{path})"


def picture(cell):
    "The picture a cell drew, or None."
    for output in cell["outputs"]:
        if "image/png" in output.get("data", {}):
            return base64.b64decode("".join(output["data"]["image/png"]))
    return None


def width(cell):
    "The width that a picture is shown at: half of its dots."
    shown = next(o["metadata"] for o in cell["outputs"] if "image/png" in o.get("data", {}))
    return shown.get("image/png", {}).get("width", 640)


def printed(cell):
    "What a cell printed, set in as markdown wants it."
    text = ""
    for output in cell.get("outputs", []):
        data = output.get("data", {})
        if "image/png" not in data:
            text += "".join(output.get("text", [])) or "".join(data.get("text/plain", ""))
    return "\n".join("    " + line for line in text.rstrip().split("\n")) if text.strip() else ""


def shown(cell, source, pictures):
    "A code cell: folded code is left out, as on the site; pictures go to files."
    drawn = picture(cell)
    if drawn:
        label, caption = (re.search(rf"#\| {key}: \"?(.+?)\"?$", source, re.M)[1]
                          for key in ("label", "fig-cap"))
        pictures[f"nbs/images/{label}.png"] = drawn
        alt = re.search(r"#\| fig-alt: \"?(.+?)\"?$", source, re.M)[1]
        yield (f'<img src="nbs/images/{label}.png" width="{width(cell)}" alt="{alt}">'
               f"\n\n*{caption}*")
    elif "#| code-fold" not in source:
        code = "\n".join(line for line in source.split("\n") if not line.startswith("#|"))
        yield f"```python\n{code}\n```"
    if printed(cell):
        yield printed(cell)


def readme():
    "The text of README.md, and the pictures it shows."
    pictures, parts = {}, ["<!-- made from nbs/index.ipynb by `make readme`: edit that -->"]
    page = json.loads((ROOT/"nbs"/"index.ipynb").read_text(encoding="utf-8"))
    for cell in page["cells"]:
        source = "".join(cell["source"])
        if re.search(r"^#\|\s*(hide|default_exp)", source, re.M):
            continue
        if cell["cell_type"] == "markdown":
            link = r"\[([^\]]+)\]\(([^)\s:]+\.ipynb[^)]*)\)"
            parts.append(re.sub(link, page_url, source))
        else:
            parts += shown(cell, source, pictures)
    return "\n\n".join(parts) + "\n", pictures


def same(path, content):
    return path.is_file() and path.read_bytes() == content


if __name__ == "__main__":
    text, pictures = readme()
    files = {"README.md": text.encode("utf-8"), **pictures}
    if "--check" in sys.argv:
        sys.exit(any(not same(ROOT/name, content) for name, content in files.items()))
    for name, content in files.items():
        (ROOT/name).parent.mkdir(exist_ok=True)
        (ROOT/name).write_bytes(content)
