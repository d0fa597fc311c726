"Everything a build needs to know is in settings.ini."
from configparser import ConfigParser
from pathlib import Path
from setuptools import setup, find_packages

parser = ConfigParser(delimiters=["="])
parser.read(Path(__file__).parent/"settings.ini", encoding="utf-8")
cfg = parser["DEFAULT"]
words = lambda key: cfg.get(key, "").split()
extras = {name: words(f"{name}_requirements") for name in ("vision", "dask", "bench")}
extras["dev"] = words("dev_requirements") + extras["vision"] + extras["dask"]

setup(
    name=cfg["lib_name"], version=cfg["version"], description=cfg["description"],
    long_description=Path(__file__).with_name("README.md").read_text(encoding="utf-8"), long_description_content_type="text/markdown",
    author=cfg["author"], author_email=cfg["author_email"], url=cfg["git_url"], license="Apache-2.0", keywords=cfg["keywords"],
    classifiers=["Development Status :: 4 - Beta", "Intended Audience :: Developers", "Intended Audience :: Science/Research",
                 "Natural Language :: English"] + [f"Programming Language :: Python :: 3.{v}" for v in range(10, 14)],
    packages=find_packages(include=["boostlit", "boostlit.*"]), package_data={"boostlit": words("package_data")}, include_package_data=False,
    python_requires=">="+cfg["min_python"], install_requires=words("requirements"), extras_require=extras,
    entry_points={"console_scripts": words("console_scripts"), "nbdev": [f"{cfg['lib_name']}={cfg['lib_name']}._modidx:d"]}, zip_safe=False)
