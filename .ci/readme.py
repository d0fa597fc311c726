"README.md from nbs/index.ipynb, without Quarto: the page's markdown and code, links turned to the site."
import json, re, sys
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
    "The text of README.md."
    parts = ["<!-- made from nbs/index.ipynb by `make readme`: edit that -->"]
    for cell in json.loads((ROOT/"nbs/index.ipynb").read_text(encoding="utf-8"))["cells"]:
        source = "".join(cell["source"])
        if re.search(r"^#\|\s*(hide|default_exp)", source, re.M): continue
        if cell["cell_type"] == "markdown": parts.append(re.sub(r"\[([^\]]+)\]\(([^)\s:]+\.ipynb[^)]*)\)", page_url, source))
        elif "#| code-fold" in source:    # the site shows the picture and folds its code; so does the README
            label, caption = (re.search(rf"#\| {key}: \"?(.+?)\"?$", source, re.M)[1] for key in ("label", "fig-cap"))
            parts.append(f"![{caption}]({site()}/index_files/figure-html/{label}-output-1.png)\n\n*{caption}*")
        else:
            code = "\n".join(l for l in source.split("\n") if not l.startswith("#|"))
            parts.append(f"```python\n{code}\n```")
            for o in cell.get("outputs", []):
                text = "".join(o.get("text", [])) or "".join(o.get("data", {}).get("text/plain", "")) if "image/png" not in o.get("data", {}) else ""
                if text.strip() and "<Figure" not in text: parts.append("\n".join("    " + l for l in text.rstrip().split("\n")))
    return "\n\n".join(parts) + "\n"


if __name__ == "__main__":
    if "--check" in sys.argv: sys.exit((ROOT/"README.md").read_text(encoding="utf-8") != readme())
    (ROOT/"README.md").write_text(readme(), encoding="utf-8")
