"README.md from nbs/index.ipynb, without Quarto: the page's markdown and code, links turned to the site."
import base64, json, re, sys
from configparser import ConfigParser
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]


def site():
    cfg = ConfigParser(delimiters=["="]); cfg.read(ROOT/"settings.ini", encoding="utf-8")
    return cfg["DEFAULT"]["doc_host"] + cfg["DEFAULT"]["doc_baseurl"]


def page_url(match):
    "A link to a notebook becomes a link to its page; digits in front of names are dropped there, as nbdev does."
    path = re.sub(r"(^|/)\d+[a-z]?_", r"\1", match[2].removeprefix("./")).replace(".ipynb", ".html")
    return f"[{match[1]}]({site()}/{path})"


def readme():
    "The text of README.md, and the pictures it shows."
    pictures, parts = {}, ["<!-- made from nbs/index.ipynb by `make readme`: edit that -->"]
    for cell in json.loads((ROOT/"nbs/index.ipynb").read_text(encoding="utf-8"))["cells"]:
        source = "".join(cell["source"])
        if re.search(r"^#\|\s*(hide|default_exp)", source, re.M): continue
        if cell["cell_type"] == "markdown": parts.append(re.sub(r"\[([^\]]+)\]\(([^)\s:]+\.ipynb[^)]*)\)", page_url, source))
        elif "#| code-fold" in source:    # the site shows the picture and folds its code; so does the README
            label, caption = (re.search(rf"#\| {key}: \"?(.+?)\"?$", source, re.M)[1] for key in ("label", "fig-cap"))
            pictures[f"nbs/images/{label}.png"] = next(base64.b64decode(o["data"]["image/png"]) for o in cell["outputs"] if "image/png" in o.get("data", {}))
            parts.append(f"![{caption}](nbs/images/{label}.png)\n\n*{caption}*")
        else:
            code = "\n".join(l for l in source.split("\n") if not l.startswith("#|"))
            parts.append(f"```python\n{code}\n```")
            for o in cell.get("outputs", []):
                text = "".join(o.get("text", [])) or "".join(o.get("data", {}).get("text/plain", "")) if "image/png" not in o.get("data", {}) else ""
                if text.strip() and "<Figure" not in text: parts.append("\n".join("    " + l for l in text.rstrip().split("\n")))
    return "\n\n".join(parts) + "\n", pictures


if __name__ == "__main__":
    text, pictures = readme()
    files = {"README.md": text.encode("utf-8"), **pictures}
    if "--check" in sys.argv: sys.exit(any(not (ROOT/k).is_file() or (ROOT/k).read_bytes() != v for k, v in files.items()))
    for k, v in files.items(): (ROOT/k).parent.mkdir(exist_ok=True); (ROOT/k).write_bytes(v)
