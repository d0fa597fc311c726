"Everything a build needs to know is in settings.ini."
from configparser import ConfigParser
from pathlib import Path
from setuptools import find_packages, setup

HERE = Path(__file__).parent
parser = ConfigParser(delimiters=["="])
parser.read(HERE/"settings.ini", encoding="utf-8")
cfg = parser["DEFAULT"]


def words(key):
    "A value of settings.ini as a list."
    return cfg.get(key, "").split()


optional = ("vision", "dask", "molecules", "onnx", "lab", "bench")
extras = {name: words(f"{name}_requirements") for name in optional}
extras["dev"] = words("dev_requirements") + extras["vision"] + extras["dask"] + extras["lab"]
versions = [f"Programming Language :: Python :: 3.{minor}" for minor in range(10, 14)]

setup(
    name=cfg["lib_name"],
    version=cfg["version"],
    description=cfg["description"],
    long_description=(HERE/"README.md").read_text(encoding="utf-8"),
    long_description_content_type="text/markdown",
    author=cfg["author"],
    author_email=cfg["author_email"],
    url=cfg["git_url"],
    license="Apache-2.0",
    keywords=cfg["keywords"],
    classifiers=["Development Status :: 4 - Beta", "Intended Audience :: Developers",
                 "Intended Audience :: Science/Research", "Natural Language :: English", *versions],
    packages=find_packages(include=["boostlit", "boostlit.*"]),
    package_data={"boostlit": words("package_data")},
    include_package_data=False,
    python_requires=">=" + cfg["min_python"],
    install_requires=words("requirements"),
    extras_require=extras,
    entry_points={"console_scripts": words("console_scripts"),
                  "nbdev": [f"{cfg['lib_name']}={cfg['lib_name']}._modidx:d"]},
    zip_safe=False)
